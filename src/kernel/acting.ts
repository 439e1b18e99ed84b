// On whose behalf the code runs: the caller of the request that is being answered, or nobody. Every transaction that is
// begun on a caller's behalf carries this into the database, where the audit log's triggers read it.
import { AsyncLocalStorage } from 'node:async_hooks'

export interface Acting {
  actor: string
  role: string | null
  tenant_id: string | null
  request_id: string
  /** What the caller itself calls the request. */
  client_request_id: string | null
  credential_kind: string
  credential_id: string
  /** The client's, as far as this process can see. */
  address: string
  /** The operation's name in the API's description. */
  operation: string
}

/** The setting's name; migrations/0016_audit_log.sql reads it. */
export const ACTOR_SETTING = 'cloudops.actor'

const storage = new AsyncLocalStorage<Acting | undefined>()

export const actAs = <T>(acting: Acting, work: () => T): T => {
  const { actor, role, tenant_id } = acting
  const known = {
    actor: storable(actor),
    role: role === null ? null : storable(role),
    tenant_id: tenant_id === null ? null : storable(tenant_id),
  }
  return storage.run({ ...acting, ...known }, work)
}

/** For work that a request set off and that is not the request's any more. */
export const actAsNobody = <T>(work: () => T): T => storage.run(undefined, work)

/** Undefined when nobody is acting. */
export const actingNow = (): Acting | undefined => storage.getStore()

/** What the setting is set to; empty when nobody is acting. */
export function actingText(): string {
  const acting = actingNow()
  return acting === undefined ? '' : JSON.stringify(acting)
}

/** Roles are whatever the issuer writes, and the database takes neither NUL nor half a character. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
