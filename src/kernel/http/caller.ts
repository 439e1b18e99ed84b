// Who is calling, and what of the data that lets them see.
import type { FastifyRequest } from 'fastify'
import { forbidden } from '../errors.ts'
import type { Access } from './access.ts'

export const PLATFORM_ADMIN = 'platform_admin'

/** What a credential says of its bearer. */
export interface Identity {
  /** The user, as the issuer names it. */
  sub: string
  tenantId: string | null
  roles: readonly string[]
  platformAdmin: boolean
  via: CredentialKind
  /** Which token, session or key it is: an id or a fingerprint, never the credential itself. */
  credentialId: string
  /** When that ends, in UTC; null: never. */
  expiresAt: string | null
  /** When the token was issued, to the second; undefined when it does not say, and for a key. */
  issuedAt?: string | undefined
  /** Of a key: the roles of its owner's newest token. The key may no more than they and its own. */
  ownerRoles?: readonly string[] | undefined
  /** Of a key: the tenant whose user its owner is; a platform_admin's key may act in another. */
  ownerTenant?: string | undefined
}

/** The same, and what follows from the roles and users that are known here. */
export interface Caller extends Identity {
  operator: Access['operator']
  limits: Access['limits']
}

export const CREDENTIAL_KINDS = ['token', 'session', 'api_key'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]

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

/** The role that events record beside the actor. */
export const actingRole = (caller: Caller): string | null =>
  caller.platformAdmin ? PLATFORM_ADMIN : (caller.roles[0] ?? null)

/** A tenant may name itself in a filter; naming another is refused rather than answered with nothing. */
export function refuseForeignTenant(caller: Caller, tenantId: string | undefined): void {
  if (tenantId !== undefined && !seesAllTenants(caller) && tenantId !== caller.tenantId) {
    throw forbidden('The tenant_id filter is for operators.')
  }
}
