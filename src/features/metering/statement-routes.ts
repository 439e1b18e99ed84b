// /api/v1/deployments/:id/statements, /api/v1/statements and /api/v1/statements/:id
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { callerOf, refuseForeignTenant, scopeOf } from '../../kernel/http/caller.ts'
import { CSV, CsvBody, Format, sendCsv, varyByAccept, wantsCsv } from '../../kernel/http/csv.ts'
import { jsonText } from '../../kernel/http/json.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { ExternalId, Id, One, Query } from '../../kernel/http/schemas.ts'
import { listBilled } from '../deployments/index.ts'
import { StatementLine } from '../subscriptions/index.ts'
import { Statement, StatementDetail } from './statement.ts'
import { listAllStatements, listStatements, showStatement } from './statement-store.ts'

const params = Type.Object({ id: Id })
const Period = Type.String({ pattern: '^[12]\\d{3}-(0[1-9]|1[0-2])$', description: 'A month, `YYYY-MM`.' })

export const statementRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Deployments', guard: 'caller' }, route => {
    const { db } = deps

    route.list(
      '/api/v1/deployments/:id/statements',
      {
        id: 'listStatements',
        summary: 'List the statements of a deployment',
        description:
          'Newest first. A month is closed three days after its end, when it is metered: its statement is what usage shows of it, and never changes. Usage events that come later make a further statement that names the first (`adjusts`), with the differences as its lines, so that the statements of a month add up to its usage.',
        params,
        items: Statement,
        cursor: cursorOf('statements', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ scope, params, limit, after }) => {
        const [deployment] = await listBilled(db, scope, { id: params.id }, 1, null)
        if (!deployment) throw notFound()
        return listStatements(db, params.id, limit, after)
      },
    )

    route.list(
      '/api/v1/statements',
      {
        id: 'listAllStatements',
        summary: 'List statements',
        description:
          'Of all deployments; a tenant sees its own. The newest month first, and in it the highest number.',
        permission: 'deployments:read',
        filters: {
          period: Type.Optional(Period),
          tenant_id: Type.Optional(ExternalId),
          deployment_id: Type.Optional(Id),
          adjusts: Type.Optional(
            Type.String({ ...Id, description: 'A statement: those that correct it, the last one first.' }),
          ),
        },
        items: Statement,
        cursor: cursorOf('statements_of_all', ['date', 'integer']),
        key: (row: { period: string; ordinal: number }) => [row.period, row.ordinal],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listAllStatements(db, scope, filter, limit, after)
      },
    )

    // Not `route.get`: it is a file as well.
    route.app.get<{ Params: { id: string } }>(
      '/api/v1/statements/:id',
      {
        config: { guard: 'caller', permission: 'deployments:read' },
        schema: {
          tags: ['Deployments'],
          operationId: 'getStatement',
          summary: 'Get a statement',
          description: 'With its lines. With `format=csv` or `Accept: text/csv`: the lines as a download.',
          params,
          querystring: Query({ format: Format }),
          response: {
            200: {
              description: 'The statement, or its lines as CSV.',
              content: { 'application/json': { schema: One(StatementDetail) }, [CSV]: { schema: CsvBody } },
            },
          },
        },
      },
      async (request, reply) => {
        const json = await showStatement(db, scopeOf(callerOf(request)), request.params.id)
        if (json === undefined) throw notFound()
        varyByAccept(reply)
        return wantsCsv(request) ? sendLines(reply, json) : jsonText(reply, `{"data":${json}}`)
      },
    )
  })

const LINE_COLUMNS = Object.keys(StatementLine.properties) as (keyof typeof StatementLine.properties)[]

/** Whoever adds files up needs to know what each line is of. */
function sendLines(reply: FastifyReply, json: string): Promise<FastifyReply> {
  const { number, period, currency, lines } = JSON.parse(json, exactly)
  const cells = lines.map((line: Record<string, string | number | null>) => [
    ...[number, period],
    ...LINE_COLUMNS.map(column => line[column] ?? null),
    currency,
  ])
  const columns = ['number', 'period', ...LINE_COLUMNS, 'currency']
  return sendCsv(reply, `statement-${number}.csv`, columns, one(cells))
}

/** Amounts as they are written, for they may be larger than a float is exact. */
const exactly = (_: string, value: unknown, { source }: { source?: string } = {}) =>
  typeof value === 'number' && source !== undefined ? source : value

async function* one<T>(batch: T) {
  yield batch
}
