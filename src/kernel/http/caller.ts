// Who is calling, and what of the data that lets them see.
import type { FastifyRequest } from 'fastify'
import { forbidden } from '../errors.ts'

export const PLATFORM_ADMIN = 'platform_admin'

export interface Caller {
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

export function scopeOf(caller: Caller): Scope {
  if (caller.platformAdmin) return { allTenants: true }
  if (caller.tenantId === null) throw new Error('a caller without a tenant passed the guard')
  return { allTenants: false, tenantId: caller.tenantId }
}

/** The role that events record beside the actor. */
export const actingRole = (caller: Caller): string | null =>
  caller.platformAdmin ? PLATFORM_ADMIN : (caller.roles[0] ?? null)

/** A tenant may name itself in a filter; naming another is refused rather than answered with nothing. */
export function refuseForeignTenant(caller: Caller, tenantId: string | undefined): void {
  if (tenantId !== undefined && !caller.platformAdmin && tenantId !== caller.tenantId) {
    throw forbidden('The tenant_id filter is for a platform_admin.')
  }
}
