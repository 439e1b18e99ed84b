// What is asked of the service, and what each caller must be answered: the status, and the data where there is any.
import { costsBy, sumOf } from './lines.ts'
import { changesBetween, inventoryAt, moments } from './past.ts'
import { relationsOf } from './related.ts'
import { type Answer, allowedMoves, FORBIDDEN, NOT_FOUND, sees, seesAll, turnedAway } from './rules.ts'
import {
  costs,
  deploymentRow,
  desiredState,
  driftRow,
  eventsFor,
  isOwnTime,
  lineRow,
  marginsByTenant,
  moves,
  projectRow,
  resourceRow,
  sagaRow,
  statementRow,
  subscriptionOf,
  usage,
} from './shown.ts'
import { statementsOf } from './statements.ts'
import { type Caller, type Deployment, iso, monthsOf, TENANTS, type Thing, type World } from './world.ts'

export interface Shown extends Answer {
  data?: unknown
}

export interface Look {
  /** With symbols in the place of ids. */
  path: string
  /** After every step, after those that change its answer, or only at the end of a history. */
  asked: 'always' | 'when changed' | 'at the end'
  shown(caller: Caller): Shown
}

/** Whether the answer is a list, whose order is that of ids or times. */
export const isList = ({ path }: Look): boolean => path.includes('limit=')

type Permission = readonly [guard: 'caller' | 'operator', permission: string]
const DEPLOYMENTS: Permission = ['caller', 'deployments:read']
const INVENTORY: Permission = ['caller', 'inventory:read']
const PROJECTS: Permission = ['caller', 'projects:read']
const SAGAS: Permission = ['caller', 'sagas:read']
const COSTS: Permission = ['caller', 'costs:read']
const BILLING: Permission = ['operator', 'billing:read']
const DRIFT: Permission = ['operator', 'drift:read']
const LIMIT = '?limit=500'
const NOVEMBER = '&from=2026-11-01&to=2026-11-30&group_by=tenant,deployment'

export function looksAt(world: World): Look[] {
  const look =
    (asked: Look['asked']) =>
    (path: string, [guard, needed]: Permission, data: (caller: Caller) => unknown): Look => ({
      path,
      asked,
      shown(caller) {
        const refused = turnedAway(world, caller, guard, needed)
        if (refused) return refused
        const found = data(caller)
        if (found === FORBIDDEN) return FORBIDDEN
        return found === undefined ? NOT_FOUND : { status: 200, data: found }
      },
    })
  const [always, whenChanged, atTheEnd] = [look('always'), look('when changed'), look('at the end')]
  const visible = (caller: Caller) => {
    const own = (one: { tenant: string | null }) => sees(world, caller, one.tenant)
    return {
      deployments: world.deployments.filter(own),
      things: known.filter(({ row }) => own(row!)),
      projects: world.projects.filter(own),
      sagas: world.sagas.filter(own),
      lines: world.lines.filter(own),
    }
  }
  const known = world.things.filter(({ row }) => row !== null)
  const living = (caller: Caller) => visible(caller).things.filter(({ row }) => row!.deletedAt === null)
  const drifts = known.flatMap(thing => thing.drifts.map(drift => ({ thing, drift })))
  const driftList = (status: string) => () =>
    drifts.filter(({ drift }) => drift.status === status).map(({ thing, drift }) => driftRow(thing, drift))

  return [
    always(`/deployments${LIMIT}`, DEPLOYMENTS, caller => visible(caller).deployments.map(deploymentRow)),
    always(`/inventory${LIMIT}&include_deleted=true`, INVENTORY, caller =>
      visible(caller).things.map(resourceRow),
    ),
    always(`/projects${LIMIT}`, PROJECTS, caller => visible(caller).projects.map(projectRow)),
    always(`/sagas${LIMIT}`, SAGAS, caller =>
      visible(caller).sagas.map(saga => sagaRow(saga, seesAll(world, caller))),
    ),
    always(`/costs/lines${LIMIT}`, COSTS, caller =>
      visible(caller).lines.map(line => lineRow(line, seesAll(world, caller))),
    ),
    whenChanged(`/billing/cost-lines${LIMIT}`, BILLING, () => world.lines.map(line => lineRow(line, true))),
    always(`/drift${LIMIT}`, DRIFT, driftList('open')),
    whenChanged(`/drift${LIMIT}&status=accepted`, DRIFT, driftList('accepted')),
    whenChanged(`/drift${LIMIT}&status=stale`, DRIFT, driftList('stale')),
    whenChanged('/costs/summary?period=2026-11-01', COSTS, caller => monthAddedUp(visible(caller).lines)),
    whenChanged('/billing/summary?period=2026-11-01', BILLING, () => monthAddedUp(world.lines)),
    // Nothing is estimated in this world: everybody is told so, and only operators of everybody's.
    atTheEnd('/costs/estimate', COSTS, () => null),
    atTheEnd('/billing/costs/estimate', BILLING, () => null),
    whenChanged(`/costs${LIMIT}${NOVEMBER}`, COSTS, caller => costRows(visible(caller).lines)),
    whenChanged(`/billing/costs${LIMIT}${NOVEMBER}`, BILLING, () => costRows(world.lines)),
    whenChanged('/billing/margins?period=2026-11&by=tenant', BILLING, () => ({
      rows: marginsByTenant(world),
      unassigned: costs(world.lines.filter(({ tenant }) => tenant === null)),
    })),
    ...TENANTS.map(tenant =>
      atTheEnd(`/inventory${LIMIT}&tenant_id=${tenant}`, INVENTORY, caller =>
        seesAll(world, caller) || caller.tenant === tenant
          ? living(caller)
              .filter(({ row }) => row!.tenant === tenant)
              .map(resourceRow)
          : FORBIDDEN,
      ),
    ),

    ...moments(world).flatMap(at => [
      atTheEnd(`/inventory${LIMIT}&include_deleted=true&at=${iso(at)}`, INVENTORY, caller =>
        inventoryAt(world, caller, at),
      ),
      atTheEnd(`/inventory/changes${LIMIT}&from=${iso(at - 1)}&to=${iso(world.now)}`, INVENTORY, caller =>
        changesBetween(world, caller, at - 1, world.now),
      ),
    ]),
    ...world.deployments.flatMap(deployment => looksAtDeployment(deployment)),
    ...known.flatMap(thing => looksAtThing(thing)),
    ...world.projects.map(project =>
      whenChanged(`/projects/${project.id}`, PROJECTS, caller =>
        sees(world, caller, project.tenant) ? projectRow(project) : undefined,
      ),
    ),
    ...world.sagas.map(saga =>
      whenChanged(`/sagas/${saga.id}`, SAGAS, caller =>
        sees(world, caller, saga.tenant) ? sagaRow(saga, seesAll(world, caller)) : undefined,
      ),
    ),
    ...drifts.map(({ thing, drift }) =>
      whenChanged(`/drift/${drift.id}`, DRIFT, () => driftRow(thing, drift)),
    ),
  ]

  function looksAtDeployment(deployment: Deployment): Look[] {
    const { id, tenant } = deployment
    const path = `/deployments/${id}`
    const ifVisible = (data: (caller: Caller) => unknown) => (caller: Caller) =>
      sees(world, caller, tenant) ? data(caller) : undefined
    const shown = (caller: Caller) => ({
      ...deploymentRow(deployment),
      allowed_transitions: allowedMoves(world, caller, deployment),
      subscription: subscriptionOf(deployment),
      events: moves(deployment),
    })
    const usageIn = monthsOf(world).map(month => {
      const asked = `${path}/usage?period=${month.period}`
      return whenChanged(
        asked,
        DEPLOYMENTS,
        ifVisible(() => usage(world, deployment, month)),
      )
    })
    return [
      whenChanged(path, DEPLOYMENTS, ifVisible(shown)),
      whenChanged(
        `${path}/events${LIMIT}`,
        DEPLOYMENTS,
        ifVisible(() => moves(deployment)),
      ),
      ...usageIn,
      whenChanged(
        `${path}/statements${LIMIT}`,
        DEPLOYMENTS,
        ifVisible(() => statementsOf(world, deployment).map(each => statementRow(each, deployment))),
      ),
      ...statementsOf(world, deployment).map(each =>
        whenChanged(
          `/statements/${each.id}`,
          DEPLOYMENTS,
          ifVisible(() => statementRow(each, deployment)),
        ),
      ),
      ...monthsOf(world)
        .slice(0, 1)
        .map(({ period }) =>
          atTheEnd(
            `${path}/usage/days?period=${period}`,
            DEPLOYMENTS,
            ifVisible(() => ({ deployment_id: id, tenant_id: tenant, period })),
          ),
        ),
      atTheEnd(`/inventory${LIMIT}&deployment_id=${id}`, INVENTORY, caller =>
        living(caller)
          .filter(({ row }) => row!.deployment === id)
          .map(resourceRow),
      ),
      atTheEnd(`/inventory${LIMIT}&tag=deployment:${id}`, INVENTORY, caller =>
        living(caller)
          .filter(({ row }) => row!.tags.includes(`deployment:${id}`))
          .map(resourceRow),
      ),
      atTheEnd(`/sagas${LIMIT}&deployment_id=${id}`, SAGAS, caller =>
        visible(caller)
          .sagas.filter(saga => saga.deployment === id)
          .map(saga => sagaRow(saga, seesAll(world, caller))),
      ),
      atTheEnd(`/costs/lines${LIMIT}&deployment_id=${id}`, COSTS, caller =>
        visible(caller)
          .lines.filter(line => line.deployment === id)
          .map(line => lineRow(line, seesAll(world, caller))),
      ),
    ]
  }

  function looksAtThing(thing: Thing): Look[] {
    const path = `/inventory/${thing.id}`
    const isVisible = (caller: Caller) => sees(world, caller, thing.row!.tenant)
    const shown = (caller: Caller) => ({
      ...resourceRow(thing),
      events: eventsFor(world, caller, thing),
      desired_state: desiredState(world, caller, thing),
      drift: thing.drifts
        .filter(({ status, owner }) => status === 'open' && isOwnTime(world, caller, owner))
        .map(drift => driftRow(thing, drift)),
    })
    return [
      whenChanged(path, INVENTORY, caller => (isVisible(caller) ? shown(caller) : undefined)),
      // Who had it once goes on seeing what happened then.
      whenChanged(`${path}/events${LIMIT}`, INVENTORY, caller => {
        const events = eventsFor(world, caller, thing)
        return isVisible(caller) || events.length > 0 ? events : undefined
      }),
      atTheEnd(`${path}/relations`, INVENTORY, caller => relationsOf(world, caller, thing)),
    ]
  }
}

function monthAddedUp(lines: World['lines']) {
  const sums = {
    currency: 'USD',
    ...sumOf(lines),
    unmatched: sumOf(lines.filter(({ resource }) => resource === null)),
    by_tenant: costsBy(lines, 'tenant'),
    by_deployment: costsBy(lines, 'deployment'),
  }
  return { period: '2026-11-01', currencies: lines.length === 0 ? [] : [sums] }
}

const costRows = (lines: World['lines']) =>
  [...Map.groupBy(lines, ({ tenant }) => tenant)].flatMap(([tenant_id, own]) =>
    costsBy(own, 'deployment').map(sums => ({ tenant_id, currency: 'USD', ...sums })),
  )
