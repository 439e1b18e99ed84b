// GET /api/health: the one path that needs no token.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { unavailable } from '../../kernel/errors.ts'
import { routes } from '../../kernel/http/route.ts'

const TIMEOUT_MS = 2_000

const Health = Type.Object(
  {
    service: Type.String({ description: 'The service identifier: `cloudops`.' }),
    status: Type.String(),
    version: Type.String(),
  },
  { title: 'Health' },
)

export const healthRoutes = (deps: Deps, version: string) =>
  routes(deps, { tag: 'Service', guard: 'public' }, route => {
    route.get(
      '/api/health',
      {
        id: 'getHealth',
        summary: 'Check the health of the service',
        description:
          '503 when the database does not answer, or answers and cannot write (`database_cannot_write`): reads still work then.',
        data: Health,
      },
      async () => {
        await deps.engine.ping(TIMEOUT_MS).catch(error => {
          throw unavailable('The database does not answer.', error)
        })
        await deps.engine.checkWrites(TIMEOUT_MS)
        return { service: 'cloudops', status: 'ok', version }
      },
    )
  })
