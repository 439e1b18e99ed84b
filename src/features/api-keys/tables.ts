// Rows of the API keys.
import type { Row } from '../../kernel/db/tables.ts'

/**
 * `tenant_id` and `roles` are what the key acts as. `owner_tenant` is the tenant whose user the key's owner is: null on keys
 * of the version before, until a token of theirs is seen. `owner_roles` are those of the owner's newest token, issued at
 * `owner_token_at`: the key may no more than they and its own.
 */
export type ApiKeyRow = Row<'api_keys'>
