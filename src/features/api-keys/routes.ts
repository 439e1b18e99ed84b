// /api/v1/users/:user_id/api_keys. For the user itself, in the keys' own tenant, and for a platform_admin; anyone else
// finds nothing here.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { type Caller, callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Many, Nullable, One, Query } from '../../kernel/http/schemas.ts'
import { type CreatedKey, createApiKey, revokeApiKey, rotateApiKey } from './actions.ts'
import { ApiKey, CreatedApiKey, type KeyScope, keysWithin } from './api-key.ts'
import { findKey, listKeys, type ShownKey } from './store.ts'
import { isActive } from './verify.ts'

const config = { guard: 'caller' } as const
const tags = ['API keys']
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

const CreateBody = Nullable(
  Body({
    description: Type.Optional(Description),
    expires_at: Type.Optional(ExpiresAt),
    tenant_id: Type.Optional(
      Type.String({
        ...ExternalId,
        description:
          'The tenant that the key acts in; by default that of your token. Others than a platform_admin may name only their own.',
      }),
    ),
  }),
)

const RotateBody = Nullable(
  Body({
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
      description: 'In the future; null: never. By default the new key lives as long as the old one was to.',
    }),
  }),
)

const RevokeBody = Nullable(Body({ reason: Type.Optional(Nullable(Type.String({ maxLength: 500 }))) }))

/** Another user's keys are 404, as those of an unknown user are. */
function managed(request: FastifyRequest<{ Params: { user_id: string } }>): {
  caller: Caller
  keys: KeyScope
} {
  const caller = callerOf(request)
  const keys = keysWithin(caller, request.params.user_id)
  if (!keys) throw notFound()
  return { caller, keys }
}

function created(reply: FastifyReply, { raw, row }: CreatedKey) {
  const { id, key_prefix, user_id, description, created_at, expires_at } = row
  reply.code(201).header('location', `/api/v1/users/${encodeURIComponent(user_id)}/api_keys/${id}`)
  const key = { api_key: raw, key_id: id, key_prefix, user_id, description, created_at, expires_at }
  return { data: { ...key, warning: WARNING } }
}

export function apiKeyRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('api_keys', ['uuid'])
  const shown = (key: ShownKey) => ({ ...key, is_active: isActive(key, deps.clock.now()) })

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listApiKeys',
          summary: 'List a user’s API keys',
          description:
            'Newest first, revoked and expired ones too. A user of the same `sub` in another tenant is another user, with keys of its own; a platform_admin sees those of every tenant.',
          params: UserParams,
          querystring: Query(PageQuery),
          response: { 200: Many(ApiKey) },
        },
      },
      async (request, reply) => {
        const { keys } = managed(request)
        const { limit, cursor } = request.query
        const before = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listKeys(deps.db, keys, limit + 1, before ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows.map(shown), limit, key => [key.id]),
        )
      },
    )

    app.post(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'createApiKey',
          summary: 'Make an API key',
          description:
            'The key acts as its user, with the tenant and roles of the token it is made with. One that a platform_admin makes for another user acts in one tenant and has no role. An API key makes no keys: 403.',
          params: UserParams,
          body: CreateBody,
          response: { 201: One(CreatedApiKey) },
        },
      },
      async (request, reply) => {
        const { caller } = managed(request)
        const key = await createApiKey(
          inRequest(deps, request),
          caller,
          request.params.user_id,
          request.body ?? {},
        )
        return created(reply, key)
      },
    )

    app.get(
      `${base}/:key_id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getApiKey',
          summary: 'Show an API key',
          params: KeyParams,
          response: { 200: One(ApiKey) },
        },
      },
      async request => {
        const { keys } = managed(request)
        const key = await findKey(deps.db, keys, request.params.key_id)
        if (!key) throw notFound()
        return { data: shown(key) }
      },
    )

    app.delete(
      `${base}/:key_id`,
      {
        config,
        schema: {
          tags,
          operationId: 'revokeApiKey',
          summary: 'Revoke an API key',
          description: 'It is refused from the next request on. Revoking twice is no error.',
          params: KeyParams,
          body: RevokeBody,
          response: { 204: Type.Null({ description: 'The key is revoked.' }) },
        },
      },
      async (request, reply) => {
        const { caller, keys } = managed(request)
        await revokeApiKey(deps, caller, keys, request.params.key_id, request.body?.reason ?? null)
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${base}/:key_id/rotate`,
      {
        config: {
          ...config,
          problems: {
            409: {
              already_rotated: 'The key was rotated before.',
              key_not_active: 'The key is revoked or expired.',
            },
          },
        },
        schema: {
          tags,
          operationId: 'rotateApiKey',
          summary: 'Rotate an API key',
          description:
            'Makes a new key with the rights of the old one, which lives on for `grace_seconds`. 409 `already_rotated` or `key_not_active`; 403 when the key may do more than your token.',
          params: KeyParams,
          body: RotateBody,
          response: { 201: One(CreatedApiKey) },
        },
      },
      async (request, reply) => {
        const { caller, keys } = managed(request)
        const { key_id } = request.params
        return created(
          reply,
          await rotateApiKey(inRequest(deps, request), caller, keys, key_id, request.body ?? {}),
        )
      },
    )
  }
}
