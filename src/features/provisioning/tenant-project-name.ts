// What a tenant's project is called at the provider, where names are unique and at most 175 characters long. Pure.
import { createHash } from 'node:crypto'

/** The same for one tenant always, and never the same for two. */
export function tenantProjectName(tenantId: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,127}$/.test(tenantId)) return `tenant ${tenantId}`
  // Whatever the provider may fold or refuse (case, blanks, signs) is told apart by the hash.
  const readable = tenantId.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 100)
  return `tenant ${readable} ${createHash('sha256').update(tenantId).digest('hex').slice(0, 16)}`
}
