// /api/v1/users/:user_id/api_keys. For the user itself, in the keys' own tenant, and for a platform_admin; anyone else
// finds nothing here.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, Nullable } from '../../kernel/http/schemas.ts'
import { fieldsOf } from '../../kernel/noun.ts'
import { type CreatedKey, createApiKey, revokeApiKey, rotateApiKey } from './actions.ts'
import { ApiKey, CreatedApiKey, type KeyScope, keysWithin } from './api-key.ts'
import { findKey, listKeys, type ShownKey } from './store.ts'
import { isActive } from './verify.ts'

const base = '/api/v1/users/:user_id/api_keys'
const WARNING = 'Keep this key now: it is not stored and cannot be shown again.'

/** A user id is the issuer's: any text of 1 to 128 characters without NUL, which no column takes. */
const UserParams = Type.Object({
  user_id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' }),
})
const KeyParams = Type.Object({ ...UserParams.properties, key_id: Id })

const Description = Nullable(Type.String({ maxLength: 255 }))
const ExpiresAt = Nullable(Type.String({ format: 'date-time', description: 'In the future; null: never.' }))

/** 30 days. */
const LONGEST_GRACE = 2_592_000

const CreateApiKey = Nullable(
  Body(
    {
      description: Type.Optional(Description),
      expires_at: Type.Optional(ExpiresAt),
      tenant_id: Type.Optional(
        Type.String({
          ...ExternalId,
          description:
            'The tenant that the key acts in; by default that of your token. Others than a platform_admin may name only their own.',
        }),
      ),
    },
    { title: 'CreateApiKey' },
  ),
)

const RotateApiKey = Nullable(
  Body(
    {
      grace_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: LONGEST_GRACE,
          default: 0,
          description: 'How long the old key lives on; at most 30 days, and never past its own expiry.',
        }),
      ),
      description: Type.Optional({ ...Description, description: 'By default that of the old key.' }),
      expires_at: Type.Optional({
        ...ExpiresAt,
        description:
          'In the future; null: never. By default the new key lives as long as the old one was to.',
      }),
    },
    { title: 'RotateApiKey' },
  ),
)

const RevokeApiKey = Nullable(
  Body({ reason: Type.Optional(Nullable(Type.String({ maxLength: 500 }))) }, { title: 'RevokeApiKey' }),
)

/** Another user's keys are 404, as those of an unknown user are. */
function managed(caller: Caller, userId: string): KeyScope {
  const keys = keysWithin(caller, userId)
  if (!keys) throw notFound()
  return keys
}

const pathOf = ({ row }: CreatedKey) => `/api/v1/users/${encodeURIComponent(row.user_id)}/api_keys/${row.id}`

const created = ({ raw, row }: CreatedKey) => ({
  ...fieldsOf(CreatedApiKey, row),
  api_key: raw,
  key_id: row.id,
  warning: WARNING,
})

export const apiKeyRoutes = (deps: Deps) =>
  routes(deps, { tag: 'API keys', guard: 'caller' }, route => {
    const shown = (key: ShownKey) => ({ ...key, is_active: isActive(key, deps.clock.now()) })

    route.list(
      base,
      {
        id: 'listApiKeys',
        summary: 'List the API keys of a user',
        description:
          'Newest first, revoked and expired ones too. A user of the same `sub` in another tenant is another user, with keys of its own; a platform_admin sees those of every tenant.',
        params: UserParams,
        items: ApiKey,
        cursor: cursorOf('api_keys', ['uuid']),
        key: (key: ShownKey) => [key.id],
      },
      async ({ caller, params, limit, after }) => {
        const keys = await listKeys(deps.db, managed(caller, params.user_id), limit, after)
        return keys.map(shown)
      },
    )

    route.post(
      base,
      {
        id: 'createApiKey',
        summary: 'Create an API key',
        description:
          'The key acts as its user, with the tenant and roles of the token it is made with. One that a platform_admin makes for another user acts in one tenant and has no role. An API key makes no keys: 403.',
        params: UserParams,
        body: CreateApiKey,
        status: 201,
        data: CreatedApiKey,
      },
      async ({ deps, caller, params, body, reply }) => {
        managed(caller, params.user_id)
        const key = await createApiKey(deps, caller, params.user_id, body ?? {})
        reply.header('location', pathOf(key))
        return created(key)
      },
    )

    route.get(
      `${base}/:key_id`,
      { id: 'getApiKey', summary: 'Get an API key', params: KeyParams, data: ApiKey },
      async ({ caller, params }) => {
        const key = await findKey(deps.db, managed(caller, params.user_id), params.key_id)
        if (!key) throw notFound()
        return shown(key)
      },
    )

    route.delete(
      `${base}/:key_id`,
      {
        id: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'It is refused from the next request on. Revoking twice is no error.',
        params: KeyParams,
        body: RevokeApiKey,
        done: 'The key is revoked.',
      },
      ({ deps, caller, params, body }) => {
        const keys = managed(caller, params.user_id)
        return revokeApiKey(deps, caller, keys, params.key_id, body?.reason ?? null)
      },
    )

    route.post(
      `${base}/:key_id/rotate`,
      {
        id: 'rotateApiKey',
        summary: 'Rotate an API key',
        description:
          'Makes a new key with the rights of the old one, which lives on for `grace_seconds`. 409 `already_rotated` or `key_not_active`; 403 when the key may do more than your token.',
        problems: {
          409: {
            already_rotated: 'The key was rotated before.',
            key_not_active: 'The key is revoked or expired.',
          },
        },
        params: KeyParams,
        body: RotateApiKey,
        status: 201,
        data: CreatedApiKey,
      },
      async ({ deps, caller, params, body, reply }) => {
        const keys = managed(caller, params.user_id)
        const key = await rotateApiKey(deps, caller, keys, params.key_id, body ?? {})
        reply.header('location', pathOf(key))
        return created(key)
      },
    )
  })
