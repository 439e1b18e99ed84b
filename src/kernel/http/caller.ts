// Who is calling, what they may do, and which rows they may see.
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { AppError, forbidden } from '../errors.ts'

export const PLATFORM_ADMIN = 'platform_admin'

export const CREDENTIAL_KINDS = ['token', 'session', 'api_key'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]

/** What a credential says of its bearer. */
export interface Identity {
  /** The user, as the issuer names it. */
  sub: string
  tenantId: string | null
  roles: readonly string[]
  platformAdmin: boolean
  via: CredentialKind
  /** The id or fingerprint of the token, session or key; never the credential itself. */
  credentialId: string
  /** When the credential expires, in UTC; null: never. */
  expiresAt: string | null
  /** When the token was issued, to the second; undefined when it does not say, and for a key. */
  issuedAt?: string | undefined
  /** Of a key: the roles of its owner's newest token. They limit the key beside its own roles. */
  ownerRoles?: readonly string[] | undefined
  /** Of a key: the tenant whose user its owner is; a platform_admin's key may act in another. */
  ownerTenant?: string | undefined
}

/** Such as `inventory:read`, or `*:read` for every area. */
export type Permissions = readonly string[]

/** What the directory of users and roles knows of a caller. */
export interface Access {
  suspended: boolean
  /** A user of the platform's tenant whose roles are all registered: sees all tenants, as far as its permissions go. */
  operator: boolean
  /** Every one of these must permit the request; an empty list permits everything. */
  limits: readonly Permissions[]
}

export interface Caller extends Identity {
  operator: Access['operator']
  limits: Access['limits']
}

/** The rows a caller may touch. A tenant-scoped query takes one and cannot be written without it. */
export type Scope = { allTenants: true } | { allTenants: false; tenantId: string }

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined
  }
}

/** The caller of a guarded route; the guard has run before any handler. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} was reached without its guard`)
  return request.caller
}

/** The client's address. What a proxy passes on is not always one. */
export const addressOf = ({ ip, socket }: FastifyRequest): string =>
  isIP(ip) === 0 ? (socket.remoteAddress ?? 'unknown') : ip

/** An operator sees all tenants: the guard has refused what its roles do not permit. */
export function scopeOf(caller: Caller): Scope {
  if (seesAllTenants(caller)) return { allTenants: true }
  if (caller.tenantId === null) throw new Error('a caller without a tenant passed the guard')
  return { allTenants: false, tenantId: caller.tenantId }
}

export const seesAllTenants = (caller: Pick<Caller, 'platformAdmin' | 'operator'>): boolean =>
  caller.platformAdmin || caller.operator

/** The tenant whose user the caller is: a platform_admin's token may name none. */
export const homeTenant = ({ tenantId }: Pick<Identity, 'tenantId'>, platformTenantId: string): string =>
  tenantId ?? platformTenantId

/**
 * Every tenant in which a suspension is the caller's. A platform_admin is a user of the platform's tenant, whichever its
 * token or key names besides: suspended there is suspended everywhere.
 */
export function tenantsOf(
  caller: Pick<Identity, 'tenantId' | 'platformAdmin' | 'ownerTenant'>,
  platformTenantId: string,
): string[] {
  const home = homeTenant(caller, platformTenantId)
  const tenants = [home, caller.ownerTenant ?? home, caller.platformAdmin ? platformTenantId : home]
  return [...new Set(tenants)]
}

/** The role that events record beside the actor. */
export const actingRole = (caller: Caller): string | null =>
  caller.platformAdmin ? PLATFORM_ADMIN : (caller.roles[0] ?? null)

/** A tenant may name itself in a filter; naming another is refused, not answered with an empty list. */
export function refuseForeignTenant(caller: Caller, tenantId: string | undefined): void {
  if (tenantId !== undefined && !seesAllTenants(caller) && tenantId !== caller.tenantId) {
    throw forbidden('The tenant_id filter is for operators.')
  }
}

/**
 * Who may call a route. `public`: anyone; `caller`: a member of a tenant, an operator with the permission or a
 * platform_admin; `operator`: the last two; `platform_admin`: that alone, for whatever could raise one's own rights.
 */
export type Guard = 'public' | 'caller' | 'operator' | 'platform_admin'

/** The permission a route needs: a name; false for none; undefined: derived from its path. */
export type RoutePermission = string | false | undefined

const READS = new Set(['GET', 'HEAD'])

/** Read or write of an area: the first segment of the path after the version, or after `admin`. */
export function permissionFor(method: string, url: string): string {
  const [area, second] = url.split('/').slice(3)
  return `${area === 'admin' ? second : area}:${READS.has(method) ? 'read' : 'write'}`
}

/** The permission that decides about a route; null where none does. */
export function neededFor(
  guard: Guard | undefined,
  permission: RoutePermission,
  method: string,
  url: string,
): string | null {
  if ((guard !== 'caller' && guard !== 'operator') || permission === false) return null
  return permission ?? permissionFor(method, url)
}

/** `*:read` and `*:write` cover read and write of every area, and nothing that has another name. */
export function permits(permissions: Permissions, needed: string): boolean {
  const [, kind] = needed.split(':')
  return (
    permissions.includes(needed) ||
    ((kind === 'read' || kind === 'write') && permissions.includes(`*:${kind}`))
  )
}

/** Sorted, each once. */
export const inOrder = (permissions: Permissions): string[] => [...new Set(permissions)].sort()

/**
 * What the roles of a token permit together; null: they hold nothing back. A role that is not registered permits what
 * callers of a tenant may do without any, so that nothing changes for anybody until an operator registers a role.
 */
export function unionOf(
  named: readonly string[],
  registered: Readonly<Record<string, Permissions>>,
): Permissions | null {
  if (named.length === 0 || named.some(name => !Object.hasOwn(registered, name))) return null
  return inOrder(named.flatMap(name => registered[name]!))
}

export const ROLE_NAME = '^[a-z0-9_-]{1,64}$'
const roleName = new RegExp(ROLE_NAME)

/** Whether a role can be registered under the name at all; a token may say anything. */
export const isRoleName = (name: string): boolean => roleName.test(name)

type Rights = Pick<Caller, 'platformAdmin' | 'operator' | 'limits'>

export const isPermitted = ({ limits }: Rights, needed: string): boolean =>
  limits.every(limit => permits(limit, needed))

/** Whether the caller may do what operators do, in any tenant. A tenant's own role never gives that. */
export const mayOperate = (caller: Rights, permission: string): boolean =>
  caller.platformAdmin || (caller.operator && isPermitted(caller, permission))

export function refuseSuspended({ suspended }: Pick<Access, 'suspended'>): void {
  if (suspended) throw new AppError('forbidden', 'user_suspended', 'This user is suspended.')
}

/** `instead`: another permission that is enough for an operator. */
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
