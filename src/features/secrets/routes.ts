// /api/v1/admin/secrets. A name of two parts stands in the path as it is, or with its slash encoded.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf } from '../../kernel/http/caller.ts'
import { inRequest } from '../../kernel/http/idempotency.ts'
import { cursorOf, PageQuery, withNextLink } from '../../kernel/http/pages.ts'
import { Many, One, Query } from '../../kernel/http/schemas.ts'
import { createSecret } from './create-secret.ts'
import { deleteSecret } from './delete-secret.ts'
import { putSecret } from './put-secret.ts'
import { findSecret, listSecrets } from './repository.ts'
import { CreateBody, NameInTwoParts, nameIn, PutBody, Secret, WholeName } from './schemas.ts'
import type { SecretRow } from './tables.ts'

const config = { guard: 'platform_admin' } as const
const tags = ['Administration']
const base = '/api/v1/admin/secrets'
const locationOf = ({ name }: SecretRow) => `${base}/${encodeURIComponent(name)}`

/** The same operations under both; the API's description has them once. */
const PLACES = [
  { path: `${base}/:name`, params: WholeName, hide: false },
  { path: `${base}/:group/:name`, params: NameInTwoParts, hide: true },
]

export function secretRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const cursors = cursorOf('secrets', ['text'])
  const shown = ({ sealed, ...secret }: SecretRow) => ({
    ...secret,
    readable: deps.vault.decrypt(secret.name, sealed) !== null,
  })

  return async app => {
    app.get(
      base,
      {
        config,
        schema: {
          tags,
          operationId: 'listSecrets',
          summary: 'List the secrets',
          description: 'By name. Their values are never shown.',
          querystring: Query(PageQuery),
          response: { 200: Many(Secret) },
        },
      },
      async (request, reply) => {
        const { limit, cursor } = request.query
        const after = cursors.read(cursor)?.[0] as string | undefined
        const rows = await listSecrets(deps.db, limit + 1, after ?? null)
        return withNextLink(
          request,
          reply,
          cursors.page(rows.map(shown), limit, secret => [secret.name]),
        )
      },
    )

    app.post(
      base,
      {
        config: {
          ...config,
          problems: { 409: { secret_exists: 'There is a secret of that name.' } },
        },
        schema: {
          tags,
          operationId: 'createSecret',
          summary: 'Store a secret',
          description: 'Encrypted, and never shown again. 409 `secret_exists`; a PUT gives it another value.',
          body: CreateBody,
          response: { 201: One(Secret) },
        },
      },
      async (request, reply) => {
        const { name, ...given } = request.body
        const row = await createSecret(inRequest(deps, request), name, given, callerOf(request).sub)
        reply.code(201).header('location', locationOf(row))
        return { data: shown(row) }
      },
    )

    for (const { path, params, hide } of PLACES) {
      app.get(
        path,
        {
          config,
          schema: {
            hide,
            tags,
            operationId: 'getSecret',
            summary: 'Show a secret',
            description: 'All but its value. The slash of a name may be encoded or not.',
            params,
            response: { 200: One(Secret) },
          },
        },
        async request => {
          const row = await findSecret(deps.db, nameIn(request.params))
          if (!row) throw notFound()
          return { data: shown(row) }
        },
      )

      app.put(
        path,
        {
          config,
          schema: {
            hide,
            tags,
            operationId: 'putSecret',
            summary: 'Store a secret, or give it another value',
            description:
              '201 when it is new, otherwise 200 with the next version; the value that stands already changes nothing. A queue’s provider token is used by every process within 10 seconds.',
            params,
            body: PutBody,
            response: { 200: One(Secret), 201: One(Secret) },
          },
        },
        async (request, reply) => {
          const name = nameIn(request.params)
          const { row, created } = await putSecret(deps, name, request.body, callerOf(request).sub)
          if (created) reply.code(201).header('location', locationOf(row))
          return { data: shown(row) }
        },
      )

      app.delete(
        path,
        {
          config,
          schema: {
            hide,
            tags,
            operationId: 'deleteSecret',
            summary: 'Delete a secret',
            description: 'A queue whose provider token it was asks with the common one again.',
            params,
            response: { 204: Type.Null({ description: 'It is gone.' }) },
          },
        },
        async (request, reply) => {
          await deleteSecret(deps, nameIn(request.params))
          return reply.code(204).send(null)
        },
      )
    }
  }
}
