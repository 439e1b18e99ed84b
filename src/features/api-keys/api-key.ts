// What an API key is, whose keys a caller may manage, and what a key may do: never more than its maker. A user is a `sub`
// of a tenant: the same `sub` in another tenant is another user.

import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { type Caller, homeTenant, type Scope } from '../../kernel/http/caller.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'

/**
 * `tenant_id` and `roles` are what the key acts as. `owner_tenant` is the tenant whose user the key's owner is: null on keys
 * of the version before, until a token of theirs is seen. `owner_roles` are those of the owner's newest token, issued at
 * `owner_token_at`: the key may no more than they and its own.
 */
export type ApiKeyRow = Row<'api_keys'>

/** What of a key's row is shown. */
export const StoredApiKey = noun('StoredApiKey', {
  id: Id,
  key_prefix: Type.String({ description: 'The eight characters after `cops_`.' }),
  description: Nullable(Type.String()),
  created_at: Time,
  last_used_at: Nullable(Type.String({ format: 'date-time', description: 'Written once a minute at most.' })),
  expires_at: Nullable(Time),
  revoked_at: Nullable(Time),
})

export const ApiKey = extended('ApiKey', StoredApiKey, {
  is_active: Type.Boolean({ description: 'Neither revoked nor expired.' }),
})

export const CreatedApiKey = noun('CreatedApiKey', {
  api_key: Type.String({ description: 'The key itself. It is shown here and never again.' }),
  key_id: Id,
  key_prefix: Type.String(),
  user_id: Type.String(),
  description: Nullable(Type.String()),
  created_at: Time,
  expires_at: Nullable(Time),
  warning: Type.String(),
})

export type Rights = Pick<ApiKeyRow, 'tenant_id' | 'roles'>

/** Whose a key is, and what the newest token of theirs says. */
export type Owner = Pick<ApiKeyRow, 'owner_tenant' | 'owner_roles' | 'owner_token_at'>

/** Keys by whose they are: a user of any tenant, or a user of one, whose platform_admin namesake is somebody else. */
export type KeyScope = { userId: string } & Scope

/** Which of the keys under a user's name are a caller's to manage; null: none, whoever they belong to. */
export function keysWithin(caller: Caller, userId: string): KeyScope | null {
  if (caller.platformAdmin) return { userId, allTenants: true }
  // An operator's reach ends here: the keys of its namesakes are not its own.
  if (caller.sub !== userId || caller.tenantId === null) return null
  return { userId, allTenants: false, tenantId: caller.tenantId }
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

/** The owner of a key with these rights; of somebody else's key nothing is known until a token of theirs is seen. */
export function ownerOf(caller: Caller, userId: string, rights: Rights, platformTenantId: string): Owner {
  if (caller.sub !== userId)
    return { owner_tenant: rights.tenant_id, owner_roles: null, owner_token_at: null }
  return {
    owner_tenant: homeTenant(caller, platformTenantId),
    owner_roles: [...caller.roles],
    owner_token_at: caller.issuedAt ?? null,
  }
}

/** A platform_admin may name any tenant, others only their own. */
export const mayActIn = (caller: Caller, tenantId: string): boolean =>
  caller.platformAdmin || tenantId === caller.tenantId

/** Whether the caller could have made a key with these rights; what a key was given once, its user may have lost. */
export const covers = (caller: Caller, { tenant_id, roles }: Rights): boolean =>
  caller.platformAdmin || (tenant_id === caller.tenantId && roles.every(role => caller.roles.includes(role)))

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** The time in UTC; null when it is past, or no time at all. */
export function expiryFrom(text: string, now: Date): string | null {
  const time = Date.parse(text)
  return time > now.getTime() && time <= LAST_TIME ? new Date(time).toISOString() : null
}

/** A replaced key stays valid for the grace, but never longer than it would have. */
export function expiryAfterGrace(
  { expires_at }: Pick<ApiKeyRow, 'expires_at'>,
  graceSeconds: number,
  now: Date,
): string {
  const end = now.getTime() + graceSeconds * 1000
  return new Date(expires_at === null ? end : Math.min(end, Date.parse(expires_at))).toISOString()
}

/** A replacement is valid for as long as the key it replaces was to be. */
export function sameLifetime(
  { created_at, expires_at }: Pick<ApiKeyRow, 'created_at' | 'expires_at'>,
  now: Date,
): string | null {
  if (expires_at === null) return null
  const end = now.getTime() + Date.parse(expires_at) - Date.parse(created_at)
  return new Date(Math.min(end, LAST_TIME)).toISOString()
}
