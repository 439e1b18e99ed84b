// /api/v1/catalog/meters: for every caller to read, for operators to write.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { routes } from '../../kernel/http/route.ts'
import { createMeter, renameMeter } from './actions.ts'
import { CreateMeter, Meter, MeterCode, UpdateMeter } from './meter.ts'
import { findMeters, listMeters } from './store.ts'

const meters = '/api/v1/catalog/meters'
const CodeParams = Type.Object({ code: MeterCode })

export const meterRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Catalog', guard: 'operator' }, route => {
    route.list(
      meters,
      {
        id: 'listMeters',
        summary: 'List meters',
        description: 'By code: what usage events may tell of.',
        guard: 'caller',
        items: Meter,
        cursor: cursorOf('meters', ['text']),
        key: (row: { code: string }) => [row.code],
      },
      ({ limit, after }) => listMeters(deps.db, limit, after),
    )

    route.get(
      `${meters}/:code`,
      { id: 'getMeter', summary: 'Get a meter', guard: 'caller', params: CodeParams, data: Meter },
      async ({ params }) => {
        const [meter] = await findMeters(deps.db, [params.code])
        if (!meter) throw notFound()
        return meter
      },
    )

    route.post(
      meters,
      {
        id: 'createMeter',
        summary: 'Create a meter',
        description:
          'Usage events of its code are taken from then on; plan items, addons and resource prices may name it as their ' +
          '`resource_kind`. It stays as it is, but for its name. 409 `meter_code_taken`.',
        problems: { 409: { meter_code_taken: 'There is a meter of that code.' } },
        body: CreateMeter,
        status: 201,
        data: Meter,
      },
      async ({ deps, body, reply }) => {
        const meter = await createMeter(deps, body)
        reply.header('location', `${meters}/${meter.code}`)
        return meter
      },
    )

    route.patch(
      `${meters}/:code`,
      {
        id: 'renameMeter',
        summary: 'Rename a meter',
        description: 'What it counts, and by what scale, stays: months are priced by it.',
        params: CodeParams,
        body: UpdateMeter,
        data: Meter,
      },
      ({ deps, params, body }) => renameMeter(deps, params.code, body.name),
    )
  })
