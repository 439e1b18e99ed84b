// GET /api/health: the one path that needs no token.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { unavailable } from '../../kernel/errors.ts'
import { One } from '../../kernel/http/schemas.ts'

const PATIENCE_MS = 2_000

const Health = Type.Object({
  service: Type.String({ description: 'The service identifier: `cloudops`.' }),
  status: Type.String(),
  version: Type.String(),
})

export function healthRoutes({ engine }: Deps, version: string): FastifyPluginAsyncTypebox {
  return async app => {
    app.get(
      '/api/health',
      {
        config: { guard: 'public' },
        schema: {
          tags: ['Service'],
          operationId: 'getHealth',
          summary: 'Is the service well?',
          description:
            '503 when the database does not answer, or answers and cannot write (`database_cannot_write`): reads still work then.',
          response: { 200: One(Health) },
        },
      },
      async () => {
        await engine.ping(PATIENCE_MS).catch(error => {
          throw unavailable('The database does not answer.', error)
        })
        await engine.checkWrites(PATIENCE_MS)
        return { data: { service: 'cloudops', status: 'ok', version } }
      },
    )
  }
}
