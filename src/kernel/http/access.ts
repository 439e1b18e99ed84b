// What a caller may do here beyond what its credential says: a suspended one nothing, others what their roles permit. Who
// knows that is handed in with the door; this is only what follows from it.
import { AppError, forbidden } from '../errors.ts'
import type { Caller } from './caller.ts'

export interface Access {
  suspended: boolean
  /** One of the platform's tenant, whose roles are all registered: sees all tenants for what they permit. */
  operator: boolean
  /** A request must be permitted by each of these; with none, nothing is held back. */
  limits: readonly Permissions[]
}

/** Such as `inventory:read`, or `*:read` for every area. */
export type Permissions = readonly string[]

/**
 * Who may call a route. `public`: anyone; `caller`: a member of a tenant, an operator with the permission or a
 * platform_admin; `operator`: the last two; `platform_admin`: that alone, for whatever could raise one's own rights.
 */
export type Guard = 'public' | 'caller' | 'operator' | 'platform_admin'

/** What a route says of the permission it needs: a name, false for none, or nothing, and it follows from its path. */
export type RoutePermission = string | false | undefined

const READS = new Set(['GET', 'HEAD'])

/** Read or write of an area: the first segment of the path after the version, or after `admin`. */
export function permissionFor(method: string, url: string): string {
  const [area, second] = url.split('/').slice(3)
  return `${area === 'admin' ? second : area}:${READS.has(method) ? 'read' : 'write'}`
}

/** Null: whatever their roles permit, callers may call it, or none of them may. */
export function neededFor(
  guard: Guard | undefined,
  permission: RoutePermission,
  method: string,
  url: string,
): string | null {
  if ((guard !== 'caller' && guard !== 'operator') || permission === false) return null
  return permission ?? permissionFor(method, url)
}

/** `*:read` and `*:write` cover that of every area, and nothing that has another name. */
export function permits(permissions: Permissions, needed: string): boolean {
  const [, kind] = needed.split(':')
  return (
    permissions.includes(needed) ||
    ((kind === 'read' || kind === 'write') && permissions.includes(`*:${kind}`))
  )
}

type Rights = Pick<Caller, 'platformAdmin' | 'operator' | 'limits'>

/** Whether nothing holds the caller back from what needs this permission. */
export const isPermitted = ({ limits }: Rights, needed: string): boolean =>
  limits.every(limit => permits(limit, needed))

/** Whether the caller may do what operators do, in any tenant. A tenant's own role never gives that. */
export const mayOperate = (caller: Rights, permission: string): boolean =>
  caller.platformAdmin || (caller.operator && isPermitted(caller, permission))

export function refuseSuspended({ suspended }: Pick<Access, 'suspended'>): void {
  if (suspended) throw new AppError('forbidden', 'user_suspended', 'This user is suspended.')
}

/** `instead`: what an operator may have in the place of the permission that is needed. */
export function refuseUnpermitted(
  caller: Rights,
  guard: Guard | undefined,
  needed: string | null,
  instead?: string,
): void {
  if (caller.platformAdmin) return
  if (guard === 'platform_admin') throw forbidden('This is for a platform_admin.')
  if (guard === 'operator' && !caller.operator)
    throw forbidden(`This is for operators with ${needed}, and for a platform_admin.`)
  if (instead !== undefined && mayOperate(caller, instead)) return
  if (needed !== null && !isPermitted(caller, needed))
    throw forbidden(`Your role does not permit this: it lacks ${needed}.`)
}
