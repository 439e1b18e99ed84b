// /api/v1/budgets
import { type Static, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { refuseForeignTenant } from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id } from '../../kernel/http/schemas.ts'
import {
  budgetInItsMonth,
  changeBudget,
  createBudget,
  MOST_OF_ONE_TENANT,
  monthFor,
  removeBudget,
} from './actions.ts'
import { Basis, Budget, BudgetAlert, MEASURES, Percent } from './budget.ts'
import { listAlerts, listBudgets } from './store.ts'
import { UnusualDay } from './unusual-day.ts'
import { listUnusualDays } from './unusual-store.ts'

const base = '/api/v1/budgets'
const params = Type.Object({ id: Id })

const MOST_MINOR = 1_000_000_000_000

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})
const AmountMinor = Type.Integer({
  minimum: 1,
  maximum: MOST_MINOR,
  description: 'For a calendar month, in minor units.',
})
const Currency = Type.String({ format: 'iso-4217', description: 'ISO 4217. Default: `USD`.' })
const Thresholds = Type.Array(Body({ percent: Percent, on: Basis }), {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  description: 'Each is told once in a month.',
})
const MeasureName = Type.Enum([...MEASURES], {
  description:
    '`charge`: what tenants are charged; `cost`: what the provider takes. Default: `cost` for the whole account, else `charge`.',
})

const CreateBudget = Body(
  {
    name: Name,
    tenant_id: Type.Optional(
      Type.String({
        ...ExternalId,
        description: 'Without one: the caller’s own; of an operator, the whole account.',
      }),
    ),
    deployment_id: Type.Optional(Id),
    measure: Type.Optional(MeasureName),
    amount_minor: AmountMinor,
    currency: Type.Optional(Currency),
    thresholds: Type.Optional(Thresholds),
  },
  { title: 'CreateBudget' },
)

const UpdateBudget = Body(
  {
    name: Type.Optional(Name),
    amount_minor: Type.Optional(AmountMinor),
    currency: Type.Optional(Currency),
    thresholds: Type.Optional(Thresholds),
  },
  { title: 'UpdateBudget' },
)

const FILTERS = {
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Id),
  measure: Type.Optional(Type.Enum([...MEASURES])),
}

export const budgetRoutes = (deps: Deps) =>
  routes(deps, { tag: 'Budgets', guard: 'caller' }, route => {
    const { db } = deps

    route.list(
      base,
      {
        id: 'listBudgets',
        summary: 'List budgets',
        description:
          'With what the current month has come to and may end with, and when each threshold was reached. Newest first. Tenants see their own; those of the whole account are the operators’.',
        filters: FILTERS,
        items: Budget,
        cursor: cursorOf('budgets', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        const tenantId = scope.allTenants ? (filter.tenant_id ?? null) : scope.tenantId
        return listBudgets(db, scope, await monthFor(deps, db, tenantId), filter, limit, after)
      },
    )

    route.post(
      base,
      {
        id: 'createBudget',
        summary: 'Create a budget',
        description:
          'For a deployment, a tenant, or, of an operator who names neither, the whole account. It is looked at at once and then every hour; a threshold that is reached is told once a month by the webhook event `budget.threshold_reached`.',
        problems: { 409: { budget_limit: `The tenant has ${MOST_OF_ONE_TENANT} budgets already.` } },
        body: CreateBudget,
        status: 201,
        data: Budget,
      },
      async ({ deps, caller, body, reply }) => {
        const { id, json } = await createBudget(deps, caller, body as Static<typeof CreateBudget>)
        reply.header('location', `${base}/${id}`)
        return new JsonText(json)
      },
    )

    route.list(
      `${base}/unusual-days`,
      {
        id: 'listUnusualDays',
        summary: 'List unusual days',
        description:
          'Days that cost more than the same weekday of the eight weeks before, of the account and of each tenant, with the lines that made them. Newest first. A day is judged in the morning after, and told by the webhook event `cost.unusual_day`.',
        filters: { tenant_id: Type.Optional(ExternalId) },
        items: UnusualDay,
        cursor: cursorOf('unusual_days', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listUnusualDays(db, scope, filter.tenant_id, limit, after)
      },
    )

    route.get(
      `${base}/:id`,
      { id: 'getBudget', summary: 'Get a budget', params, data: Budget },
      async ({ scope, params }) => {
        const json = await budgetInItsMonth(deps, scope, params.id)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.patch(
      `${base}/:id`,
      {
        id: 'changeBudget',
        summary: 'Update a budget',
        description:
          'It is looked at at once. With a higher amount, or another currency, every threshold begins anew; with a lower one those that were told stay told.',
        params,
        body: UpdateBudget,
        data: Budget,
      },
      async ({ deps, scope, params, body }) => new JsonText(await changeBudget(deps, scope, params.id, body)),
    )

    route.delete(
      `${base}/:id`,
      {
        id: 'deleteBudget',
        summary: 'Delete a budget',
        description: 'With the thresholds that it has told.',
        params,
        done: 'The budget is gone.',
      },
      ({ deps, scope, params }) => removeBudget(deps, scope, params.id),
    )

    route.list(
      `${base}/:id/alerts`,
      {
        id: 'listBudgetAlerts',
        summary: 'List a budget’s alerts',
        description: 'Every threshold that was reached, of all months. Newest first.',
        params,
        items: BudgetAlert,
        cursor: cursorOf('budget_alerts', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ scope, params, limit, after }) => {
        const budget = await budgetInItsMonth(deps, scope, params.id)
        if (budget === undefined) throw notFound()
        return listAlerts(db, params.id, limit, after)
      },
    )
  })
