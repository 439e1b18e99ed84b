// /api/v1/test-clocks: for sandboxes and tests; in production every one of these is refused.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { ExternalId, Id } from '../../kernel/http/schemas.ts'
import { advanceClock, createClock, endClock } from './actions.ts'
import { listClocks, showClock } from './store.ts'
import { AdvanceTestClock, CreateTestClock, TestClock } from './test-clock.ts'

const base = '/api/v1/test-clocks'
const params = Type.Object({ id: Id })

const REFUSED = { test_clocks_refused: 'The service runs in production.' }

export const testClockRoutes = (deps: Deps, { production }: { production: boolean }) =>
  routes(deps, { tag: 'Test clocks', guard: 'platform_admin' }, route => {
    const refuseInProduction = () => {
      if (!production) return
      const message =
        'Test clocks are for sandboxes and tests, and this service runs in production: time goes by itself.'
      throw new AppError('forbidden', 'test_clocks_refused', message)
    }

    route.list(
      base,
      {
        id: 'listTestClocks',
        summary: 'List test clocks',
        description: 'Those that there are, in the order in which they were made.',
        problems: { 403: REFUSED },
        filters: { tenant_id: Type.Optional(ExternalId) },
        items: TestClock,
        cursor: cursorOf('test_clocks', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ filter, limit, after }) => {
        refuseInProduction()
        return listClocks(deps.db, filter, limit, after)
      },
    )

    route.post(
      base,
      {
        id: 'createTestClock',
        summary: 'Put a tenant under a test clock',
        description:
          'From then on time stands still for the tenant, until the clock is moved: its deployments, subscriptions, usage and statements count by it. Nobody else’s time moves. 409 `tenant_has_test_clock`. Refused in production.',
        problems: { 403: REFUSED, 409: { tenant_has_test_clock: 'The tenant has a test clock.' } },
        body: CreateTestClock,
        status: 201,
        data: TestClock,
      },
      async ({ deps, caller, body, reply }) => {
        refuseInProduction()
        const { id, json } = await createClock(deps, caller.sub, body)
        reply.header('location', `${base}/${id}`)
        return new JsonText(json)
      },
    )

    route.get(
      `${base}/:id`,
      {
        id: 'getTestClock',
        summary: 'Get a test clock',
        problems: { 403: REFUSED },
        params,
        data: TestClock,
      },
      async ({ params }) => {
        refuseInProduction()
        const json = await showClock(deps.db, params.id)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.post(
      `${base}/:id/advance`,
      {
        id: 'advanceTestClock',
        summary: 'Move a test clock on',
        description:
          'To a time, or by calendar months; forward only. A job does it, month after month, and `status` is `ready` when it has arrived: the hours that go by are metered with the resources that the tenant’s deployments have now, periods roll over, trials end, and months are closed three days into the next. Asked again for the same time, it goes on where it was interrupted.',
        problems: { 403: REFUSED },
        params,
        body: AdvanceTestClock,
        status: 202,
        data: TestClock,
      },
      async ({ deps, params, body }) => {
        refuseInProduction()
        return new JsonText(await advanceClock(deps, params.id, body))
      },
    )

    route.delete(
      `${base}/:id`,
      {
        id: 'deleteTestClock',
        summary: 'Take a test clock away',
        description:
          'The tenant has everybody’s time again. What was metered and closed by the clock stays, and no hour of it is metered a second time.',
        problems: { 403: REFUSED },
        params,
        done: 'The clock is gone.',
      },
      ({ deps, params }) => {
        refuseInProduction()
        return endClock(deps, params.id)
      },
    )
  })
