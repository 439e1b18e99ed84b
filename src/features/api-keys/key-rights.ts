// Whose keys a caller may manage, and what a key may act as: never more than its maker. A user is a `sub` of a tenant: the
// same `sub` in another tenant is somebody else.
import { type Caller, type Scope, scopeOf } from '../../kernel/http/caller.ts'
import type { ApiKeyRow } from './tables.ts'

export type Rights = Pick<ApiKeyRow, 'tenant_id' | 'roles'>

/** Keys by whose they are: a user of any tenant, or a user of one, whose platform_admin namesake is somebody else. */
export type KeyScope = { userId: string } & Scope

/** Which of the keys under a user's name are a caller's to manage; null: none, whoever they belong to. */
export function keysWithin(caller: Caller, userId: string): KeyScope | null {
  if (!caller.platformAdmin && caller.sub !== userId) return null
  return { userId, ...scopeOf(caller) }
}

/** A leaked key must not multiply: keys are made with a token, never with a key. */
export const mayMakeKeys = (caller: Caller): boolean => caller.via !== 'api_key'

/**
 * A user's own key acts as the user does. A platform_admin's key for someone else acts in one tenant, without a role:
 * what that user may do beyond it is for the issuer to say, not for us. Null when there is no such tenant.
 */
export function rightsFor(caller: Caller, userId: string, tenantId: string | undefined): Rights | null {
  const tenant = tenantId ?? caller.tenantId
  if (caller.sub === userId) return { tenant_id: tenant, roles: [...caller.roles] }
  return tenant === null ? null : { tenant_id: tenant, roles: [] }
}

/** A platform_admin may name any tenant, others only their own. */
export const mayActIn = (caller: Caller, tenantId: string): boolean =>
  caller.platformAdmin || tenantId === caller.tenantId

/** Whether the caller could have made a key with these rights; what a key was given once, its user may have lost. */
export const covers = (caller: Caller, { tenant_id, roles }: Rights): boolean =>
  caller.platformAdmin || (tenant_id === caller.tenantId && roles.every(role => caller.roles.includes(role)))
