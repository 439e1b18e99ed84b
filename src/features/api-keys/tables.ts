// Rows of the API keys.

export interface ApiKeyRow {
  id: string
  user_id: string
  /** What the key acts as. */
  tenant_id: string | null
  roles: string[]
  /** The tenant whose user the key's owner is; null on keys of the version before, until a token of theirs is seen. */
  owner_tenant: string | null
  /** The roles of the owner's newest token and when that was issued: the key may no more than they and its own. */
  owner_roles: string[] | null
  owner_token_at: string | null
  key_prefix: string
  key_hash: string
  description: string | null
  /** The key that this one was made to replace. */
  replaces: string | null
  created_at: string
  created_by: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
  revoked_by: string | null
  revoked_reason: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    api_keys: ApiKeyRow
  }
}
