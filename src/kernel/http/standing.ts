// What a caller may do here beyond what its token says: a suspended one nothing, others what their roles permit. Who
// knows that is handed in with the door; this is only what follows from it.
import { AppError, forbidden } from '../errors.ts'

export interface Standing {
  suspended: boolean
  /** A request must be permitted by each of these; with none, nothing is held back. */
  limits: readonly Permissions[]
}

/** Such as `inventory:read`, or `*:read` for every area. */
export type Permissions = readonly string[]

const READS = new Set(['GET', 'HEAD'])

/** What a request to a route needs: the first segment after the version, read or written. */
export const permissionFor = (method: string, url: string): string =>
  `${url.split('/')[3]}:${READS.has(method) ? 'read' : 'write'}`

export function permits(permissions: Permissions, needed: string): boolean {
  return permissions.includes(needed) || permissions.includes(`*:${needed.split(':')[1]}`)
}

export function refuseSuspended({ suspended }: Standing): void {
  if (suspended) throw new AppError('forbidden', 'user_suspended', 'This user is suspended.')
}

export function refuseWithout({ limits }: Standing, method: string, url: string): void {
  if (limits.length === 0) return
  const needed = permissionFor(method, url)
  if (!limits.every(limit => permits(limit, needed)))
    throw forbidden(`Your role does not permit this: it lacks ${needed}.`)
}
