// POST /api/v1/catalog/backtest
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { BULK_LIMIT } from '../../kernel/http/json.ts'
import { cursorOf, PageQuery } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Body, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { CatalogDocument } from '../catalog/index.ts'
import { Backtested, backtest } from './backtest.ts'

const MOST_MONTHS = 24
const MOST_SUBSCRIPTIONS = 500

const BacktestBody = Body(
  {
    catalog: Type.Object(CatalogDocument.properties, {
      additionalProperties: false,
      description: 'A catalog file, as JSON.',
    }),
    months: Type.Integer({
      minimum: 1,
      maximum: MOST_MONTHS,
      default: 6,
      description: 'How many of the months that are over, back from the last.',
    }),
    limit: Type.Integer({
      ...PageQuery.limit,
      maximum: MOST_SUBSCRIPTIONS,
      description: 'Subscriptions on a page.',
    }),
    cursor: PageQuery.cursor,
  },
  { title: 'BacktestRequest' },
)

const Backtest = noun('Backtest', {
  subscriptions: Type.Array(Backtested),
  next_cursor: Nullable(
    Type.String({ description: 'Send as `cursor` with the same draft for the next page; null on the last.' }),
  ),
})

export const backtestRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Catalog', guard: 'platform_admin' }, route => {
    const cursors = cursorOf('backtest', ['uuid'])

    route.post(
      '/api/v1/catalog/backtest',
      {
        id: 'backtestCatalog',
        summary: 'Price past months under a draft of the catalog',
        description:
          'For every subscription what each of the months came to and what it would have come to, by the rule of statements, if the terms of its plans, its addons and the resource prices had been the draft’s throughout. What the draft does not change counts as it was; plans and addons that it does not have are named in `kept`. Nothing is written. Pages go by `cursor` in the body.',
        body: BacktestBody,
        data: Backtest,
        bodyLimit: BULK_LIMIT,
        config: { storesNothing: true },
      },
      async ({ deps, body: { limit, cursor, ...asked } }) => {
        const after = (cursors.read(cursor)?.[0] as string | undefined) ?? null
        const rows = await backtest(deps, { ...asked, limit: limit + 1, after })
        const { data, next_cursor } = cursors.page(rows, limit, row => [row.subscription_id])
        return { subscriptions: data, next_cursor }
      },
    )
  })
