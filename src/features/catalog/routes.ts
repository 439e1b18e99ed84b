// /api/v1/catalog: plans and addons are for every caller to read; the rest is for operators.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Id, NoBody } from '../../kernel/http/schemas.ts'
import {
  addResourcePrice,
  createAddon,
  createPlan,
  createPlanVersion,
  deleteDraft,
  endResourcePrice,
  type PriceGuard,
  publishPlanVersion,
  renamePlan,
  replaceDraft,
  updateAddon,
} from './actions.ts'
import {
  Code,
  CreatePlan,
  Currency,
  Plan,
  ResourceKind,
  ShownPlanVersion,
  Unit,
  UpdatePlan,
  VersionTerms,
} from './plan.ts'
import {
  Addon,
  CreateAddon,
  CreateResourcePrice,
  Day,
  EndResourcePrice,
  type PriceKey,
  ResourcePrice,
  UpdateAddon,
} from './price.ts'
import {
  findAddons,
  findPlan,
  findPrice,
  listAddons,
  listPlans,
  listPrices,
  listVersions,
  showPlan,
  showVersion,
  type VersionMembers,
} from './store.ts'

const plans = '/api/v1/catalog/plans'
const versions = `${plans}/:code/versions`
const addons = '/api/v1/catalog/addons'
const prices = '/api/v1/catalog/resource-prices'

const CodeParams = Type.Object({ code: Code })
const VersionParams = Type.Object({
  code: Code,
  version: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'The number of the version.' }),
})
const PriceParams = Type.Object({ id: Id })

const PRICE_FILTERS = {
  resource_kind: Type.Optional(ResourceKind),
  unit: Type.Optional(Unit),
  currency: Type.Optional(Currency),
  on: Type.Optional(Type.String({ ...Day, description: 'Only prices that hold on this day.' })),
}

/** Of a version that was a draft until now. */
const NOBODYS = { subscriptions: 0 }

const NOT_A_DRAFT = { 409: { not_a_draft: 'The version is published.' } }
const PRICE_PROBLEMS = {
  409: {
    price_overlap: 'Another price of the same kind, unit and currency holds on one of those days.',
    month_finished: 'It would change what was charged for in a month that is over.',
  },
}

export const catalogRoutes = (deps: Deps, priceGuard: PriceGuard, members: VersionMembers) =>
  routes(deps, { tag: 'Catalog', guard: 'operator' }, route => {
    route.list(
      plans,
      {
        id: 'listPlans',
        summary: 'List plans',
        description: 'By code, each with its active version and what that includes.',
        guard: 'caller',
        items: Plan,
        cursor: cursorOf('plans', ['text']),
        key: (row: { code: string }) => [row.code],
      },
      ({ limit, after }) => listPlans(deps.db, limit, after),
    )

    const planNamed = async (code: string) => {
      const json = await showPlan(deps.db, code)
      if (json === undefined) throw notFound()
      return new JsonText(json)
    }

    route.get(
      `${plans}/:code`,
      { id: 'getPlan', summary: 'Get a plan', guard: 'caller', params: CodeParams, data: Plan },
      ({ params }) => planNamed(params.code),
    )

    route.post(
      plans,
      {
        id: 'createPlan',
        summary: 'Create a plan',
        description: 'It can be subscribed to once a version of it is published. 409 `plan_code_taken`.',
        problems: { 409: { plan_code_taken: 'There is a plan of that code.' } },
        body: CreatePlan,
        status: 201,
        data: Plan,
      },
      async ({ deps, body, reply }) => {
        const plan = await createPlan(deps, body)
        reply.header('location', `${plans}/${plan.code}`)
        return { ...plan, active_version: null }
      },
    )

    route.patch(
      `${plans}/:code`,
      {
        id: 'renamePlan',
        summary: 'Rename a plan',
        description: 'The code is its identity and stays.',
        params: CodeParams,
        body: UpdatePlan,
        data: Plan,
      },
      async ({ deps, params: { code }, body: { name } }) => {
        if (name !== undefined) await renamePlan(deps, code, name)
        return planNamed(code)
      },
    )

    route.list(
      versions,
      {
        id: 'listPlanVersions',
        summary: 'List the versions of a plan',
        description: 'Newest first: drafts, the active one and the retired.',
        params: CodeParams,
        items: ShownPlanVersion,
        cursor: cursorOf('plan_versions', ['integer']),
        key: (row: { version: number }) => [row.version],
      },
      async ({ params, limit, after }) => {
        const plan = await findPlan(deps.db, params.code)
        if (!plan) throw notFound()
        return listVersions(deps.db, members, plan.id, limit, after)
      },
    )

    route.get(
      `${versions}/:version`,
      {
        id: 'getPlanVersion',
        summary: 'Get a plan version',
        params: VersionParams,
        data: ShownPlanVersion,
      },
      async ({ params }) => {
        const json = await showVersion(deps.db, members, params.code, Number(params.version))
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.post(
      versions,
      {
        id: 'createPlanVersion',
        summary: 'Create a draft of a plan version',
        description: 'Nobody is given it before it is published; until then it may be replaced or deleted.',
        params: CodeParams,
        body: VersionTerms,
        status: 201,
        data: ShownPlanVersion,
      },
      async ({ deps, params: { code }, body, reply }) => {
        const draft = await createPlanVersion(deps, code, body)
        reply.header('location', `${plans}/${code}/versions/${draft.version}`)
        return { ...draft, ...NOBODYS }
      },
    )

    route.put(
      `${versions}/:version`,
      {
        id: 'replacePlanVersion',
        summary: 'Replace a draft of a plan version',
        description: '409 `not_a_draft` once it is published.',
        problems: NOT_A_DRAFT,
        params: VersionParams,
        body: VersionTerms,
        data: ShownPlanVersion,
      },
      async ({ deps, params, body }) => ({
        ...(await replaceDraft(deps, params.code, Number(params.version), body)),
        ...NOBODYS,
      }),
    )

    route.delete(
      `${versions}/:version`,
      {
        id: 'deletePlanVersion',
        summary: 'Delete a draft of a plan version',
        description: '409 `not_a_draft` once it is published. Its number is not given again.',
        problems: NOT_A_DRAFT,
        params: VersionParams,
        body: NoBody,
        done: 'The draft is gone.',
      },
      ({ deps, params }) => deleteDraft(deps, params.code, Number(params.version)),
    )

    route.post(
      `${versions}/:version/publish`,
      {
        id: 'publishPlanVersion',
        summary: 'Publish a plan version',
        description:
          'It becomes the active version, and the one before it retires in the same transaction; subscriptions stay ' +
          'where they are. 409 `already_active` or `version_retired`.',
        problems: {
          409: {
            already_active: 'The version is the active one.',
            version_retired: 'The version is retired and stays so.',
          },
        },
        params: VersionParams,
        body: NoBody,
        data: ShownPlanVersion,
      },
      async ({ deps, params }) => ({
        ...(await publishPlanVersion(deps, params.code, Number(params.version))),
        ...NOBODYS,
      }),
    )

    route.list(
      addons,
      {
        id: 'listAddons',
        summary: 'List addons',
        description: 'By code.',
        guard: 'caller',
        items: Addon,
        cursor: cursorOf('addons', ['text']),
        key: (row: { code: string }) => [row.code],
      },
      ({ limit, after }) => listAddons(deps.db, limit, after),
    )

    route.get(
      `${addons}/:code`,
      { id: 'getAddon', summary: 'Get an addon', guard: 'caller', params: CodeParams, data: Addon },
      async ({ params }) => {
        const [addon] = await findAddons(deps.db, [params.code])
        if (!addon) throw notFound()
        return addon
      },
    )

    route.post(
      addons,
      {
        id: 'createAddon',
        summary: 'Create an addon',
        description: '409 `addon_code_taken`.',
        problems: { 409: { addon_code_taken: 'There is an addon of that code.' } },
        body: CreateAddon,
        status: 201,
        data: Addon,
      },
      async ({ deps, body, reply }) => {
        const addon = await createAddon(deps, body)
        reply.header('location', `${addons}/${addon.code}`)
        return addon
      },
    )

    route.patch(
      `${addons}/:code`,
      {
        id: 'changeAddon',
        summary: 'Update an addon',
        description: 'What was attached to a subscription before stays as it was.',
        params: CodeParams,
        body: UpdateAddon,
        data: Addon,
      },
      ({ deps, params, body }) => updateAddon(deps, params.code, body),
    )

    route.list(
      prices,
      {
        id: 'listResourcePrices',
        summary: 'List resource prices',
        description: 'Per unit, for what no plan covers; by kind, unit, currency and first day.',
        filters: PRICE_FILTERS,
        items: ResourcePrice,
        cursor: cursorOf('resource_prices', ['text', 'text', 'text', 'text']),
        key: (row: PriceKey) => [row.resource_kind, row.unit, row.currency, row.effective_from],
      },
      ({ filter, limit, after }) => listPrices(deps.db, filter, limit, after),
    )

    route.get(
      `${prices}/:id`,
      { id: 'getResourcePrice', summary: 'Get a resource price', params: PriceParams, data: ResourcePrice },
      async ({ params }) => {
        const price = await findPrice(deps.db, params.id)
        if (!price) throw notFound()
        return price
      },
    )

    route.post(
      prices,
      {
        id: 'createResourcePrice',
        summary: 'Create a resource price',
        description:
          'It holds from `effective_from` to the day before `effective_to`. 409 `price_overlap` when another of the ' +
          'same kind, unit and currency holds on one of those days, `month_finished` when a month that is over, and in ' +
          'which something of the kind was metered, would have another price.',
        problems: PRICE_PROBLEMS,
        body: CreateResourcePrice,
        status: 201,
        data: ResourcePrice,
      },
      async ({ deps, body, reply }) => {
        const price = await addResourcePrice(deps, priceGuard, body)
        reply.header('location', `${prices}/${price.id}`)
        return price
      },
    )

    route.patch(
      `${prices}/:id`,
      {
        id: 'endResourcePrice',
        summary: 'End a resource price',
        description:
          'Sets or moves `effective_to`, so that another price can follow. Nothing else of it changes. 409 `price_overlap` ' +
          'and `month_finished` as for a new one.',
        problems: PRICE_PROBLEMS,
        params: PriceParams,
        body: EndResourcePrice,
        data: ResourcePrice,
      },
      ({ deps, params, body }) => endResourcePrice(deps, priceGuard, params.id, body.effective_to),
    )
  })
