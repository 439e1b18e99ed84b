// Whose keys a caller may manage, and what a key may act as: never more than its maker. A user is a `sub` of a tenant: the
// same `sub` in another tenant is somebody else.
import {
  type Caller,
  homeTenant,
  type Identity,
  PLATFORM_ADMIN,
  type Scope,
} from '../../kernel/http/caller.ts'
import type { ApiKeyRow } from './tables.ts'

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

/**
 * As whom a key acts: with the rights it was given, and never with more than its owner has now. One whose owner is no
 * platform_admin any more acts as the owner does.
 */
export function actsAs({
  tenant_id,
  roles,
  owner_tenant,
  owner_roles,
}: Rights & Omit<Owner, 'owner_token_at'>): Acting {
  const platformAdmin = roles.includes(PLATFORM_ADMIN)
  if (platformAdmin && owner_roles !== null && !owner_roles.includes(PLATFORM_ADMIN))
    return { tenantId: owner_tenant, roles: owner_roles, platformAdmin: false }
  return {
    tenantId: tenant_id,
    roles,
    platformAdmin,
    ownerRoles: owner_roles ?? undefined,
    ownerTenant: owner_tenant ?? undefined,
  }
}

type Acting = Pick<Identity, 'tenantId' | 'roles' | 'platformAdmin' | 'ownerRoles' | 'ownerTenant'>

/** A platform_admin may name any tenant, others only their own. */
export const mayActIn = (caller: Caller, tenantId: string): boolean =>
  caller.platformAdmin || tenantId === caller.tenantId

/** Whether the caller could have made a key with these rights; what a key was given once, its user may have lost. */
export const covers = (caller: Caller, { tenant_id, roles }: Rights): boolean =>
  caller.platformAdmin || (tenant_id === caller.tenantId && roles.every(role => caller.roles.includes(role)))
