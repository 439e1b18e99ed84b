// /api/v1/inventory/sizes: the provider's list prices, for operators.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { Size, SizePrice } from './size.ts'
import { listSizePrices, listSizes } from './size-store.ts'

const FILTERS = {
  available: Type.Optional(Type.Boolean()),
  region: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
}

const params = Type.Object({ slug: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }) })

export const sizeRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Inventory', guard: 'operator' }, route => {
    const base = '/api/v1/inventory/sizes'

    route.list(
      base,
      {
        id: 'listSizes',
        summary: 'List droplet sizes and their prices',
        description:
          'As the provider lists them, read hourly (task `size_sync`). A droplet costs by the hour, and at most its monthly price a month. One that is no longer listed stays, with its last price.',
        filters: FILTERS,
        items: Size,
        cursor: cursorOf('sizes', ['text']),
        key: (row: { slug: string }) => [row.slug],
      },
      ({ filter, limit, after }) => listSizes(deps.db, filter, limit, after),
    )

    route.list(
      `${base}/:slug/prices`,
      {
        id: 'listSizePrices',
        summary: 'List what a droplet size has cost',
        description:
          'Newest first: a row for each price that the provider has listed since the size is known.',
        params,
        items: SizePrice,
        cursor: cursorOf('size_prices', ['time']),
        key: (row: { valid_from: string }) => [row.valid_from],
      },
      async ({ params, limit, after }) => {
        const rows = await listSizePrices(deps.db, params.slug, limit, after)
        if (!rows) throw notFound()
        return rows
      },
    )
  })
