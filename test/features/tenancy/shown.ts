// What each caller is shown of the model's world: for every request of the comparison its status and its data, as the
// answer must read once ids are symbols (compare.ts).

import { costsBy, isTaxed, minorOf, sumOf, usedSeconds } from './lines.ts'
import { type Answer, allowedMoves, NOT_FOUND, sees, seesAll, turnedAway } from './rules.ts'
import { PLANS } from './step.ts'
import {
  type Caller,
  type Deployment,
  type Drift,
  HANDS,
  iso,
  type Line,
  type Month,
  monthOf,
  monthsOf,
  type Project,
  type ResourceEvent,
  type Saga,
  START,
  type Thing,
  type World,
} from './world.ts'

export interface Look {
  /** With symbols in the place of ids. */
  path: string
  /** A list of things, which is asked for after every step. */
  list: boolean
  /** Rows whose order does not matter. */
  rows: boolean
  shown(caller: Caller): Answer & { data?: unknown }
}

export interface Shown extends Answer {
  data?: unknown
}

export function looksAt(world: World): Look[] {
  const look = (
    path: string,
    [guard, needed]: readonly ['caller' | 'operator', string],
    data: (caller: Caller) => unknown,
  ): Look => ({
    path,
    list: /^\/[a-z/-]+\?[^=]*=500(&include_deleted=true)?$/.test(path),
    rows: path.includes('?'),
    shown(caller) {
      const refused = turnedAway(world, caller, guard, needed)
      if (refused) return refused
      const found = data(caller)
      return found === undefined ? NOT_FOUND : { status: 200, data: found }
    },
  })
  const DEPLOYMENTS = ['caller', 'deployments:read'] as const
  const INVENTORY = ['caller', 'inventory:read'] as const
  const PROJECTS = ['caller', 'projects:read'] as const
  const SAGAS = ['caller', 'sagas:read'] as const
  const BILLING = ['caller', 'billing:read'] as const
  const DRIFT = ['operator', 'drift:read'] as const
  const known = world.things.filter(({ row }) => row !== null)
  const seesThing = (caller: Caller, { row }: Thing) => sees(world, caller, row!.tenant)
  const drifts = known.flatMap(thing => thing.drifts.map(drift => ({ thing, drift })))
  const driftList = (status: string) => () =>
    drifts.filter(({ drift }) => drift.status === status).map(({ thing, drift }) => driftRow(thing, drift))

  return [
    look('/deployments?limit=500', DEPLOYMENTS, caller =>
      world.deployments.filter(({ tenant }) => sees(world, caller, tenant)).map(deploymentRow),
    ),
    look('/inventory?limit=500&include_deleted=true', INVENTORY, caller =>
      known.filter(thing => seesThing(caller, thing)).map(resourceRow),
    ),
    look('/projects?limit=500', PROJECTS, caller =>
      world.projects.filter(({ tenant }) => sees(world, caller, tenant)).map(projectRow),
    ),
    look('/sagas?limit=500', SAGAS, caller =>
      world.sagas
        .filter(({ tenant }) => sees(world, caller, tenant))
        .map(saga => sagaRow(saga, seesAll(world, caller))),
    ),
    look('/billing/cost-lines?limit=500', BILLING, caller =>
      world.lines
        .filter(({ tenant }) => sees(world, caller, tenant))
        .map(line => lineRow(line, seesAll(world, caller))),
    ),
    look('/billing/summary?period=2026-11-01', BILLING, caller => {
      const own = world.lines.filter(({ tenant }) => sees(world, caller, tenant))
      if (own.length === 0) return { period: '2026-11-01', currencies: [] }
      return {
        period: '2026-11-01',
        currencies: [
          {
            currency: 'USD',
            ...sumOf(own),
            unmatched: sumOf(own.filter(({ resource }) => resource === null)),
            by_tenant: costsBy(own, 'tenant'),
            by_deployment: costsBy(own, 'deployment'),
          },
        ],
      }
    }),
    look('/billing/margins?period=2026-11&by=tenant', ['operator', 'billing:read'], () => ({
      rows: marginsByTenant(world),
      unassigned: costs(world.lines.filter(({ tenant }) => tenant === null)),
    })),
    look('/drift?limit=500', DRIFT, driftList('open')),
    look('/drift?limit=500&status=accepted', DRIFT, driftList('accepted')),
    look('/drift?limit=500&status=stale', DRIFT, driftList('stale')),

    ...world.deployments.flatMap(deployment => {
      const visible = (data: (caller: Caller) => unknown) => (caller: Caller) =>
        sees(world, caller, deployment.tenant) ? data(caller) : undefined
      const path = `/deployments/${deployment.id}`
      return [
        look(
          path,
          DEPLOYMENTS,
          visible(caller => ({
            ...deploymentRow(deployment),
            allowed_transitions: allowedMoves(world, caller, deployment),
            subscription: subscriptionOf(deployment),
            events: moves(deployment),
          })),
        ),
        look(
          `${path}/events?limit=500`,
          DEPLOYMENTS,
          visible(() => moves(deployment)),
        ),
        ...monthsOf(world).map(month =>
          look(
            `${path}/usage?period=${month.period}`,
            DEPLOYMENTS,
            visible(() => usage(world, deployment, month)),
          ),
        ),
      ]
    }),
    ...known.flatMap(thing => {
      const path = `/inventory/${thing.id}`
      return [
        look(path, INVENTORY, caller =>
          seesThing(caller, thing)
            ? {
                ...resourceRow(thing),
                events: eventsFor(world, caller, thing),
                desired_state: desiredState(world, caller, thing),
                drift: thing.drifts
                  .filter(({ status, owner }) => status === 'open' && isOwnTime(world, caller, owner))
                  .map(drift => driftRow(thing, drift)),
              }
            : undefined,
        ),
        look(`${path}/events?limit=500`, INVENTORY, caller => {
          const events = eventsFor(world, caller, thing)
          return seesThing(caller, thing) || (HANDS && events.length > 0) ? events : undefined
        }),
      ]
    }),
    ...world.projects.map(project =>
      look(`/projects/${project.id}`, PROJECTS, caller =>
        sees(world, caller, project.tenant) ? projectRow(project) : undefined,
      ),
    ),
    ...world.sagas.map(saga =>
      look(`/sagas/${saga.id}`, SAGAS, caller =>
        sees(world, caller, saga.tenant) ? sagaRow(saga, seesAll(world, caller)) : undefined,
      ),
    ),
    ...drifts.map(({ thing, drift }) => look(`/drift/${drift.id}`, DRIFT, () => driftRow(thing, drift))),
  ]
}

const deploymentRow = ({ id, tenant, slug, state, hold }: Deployment) => ({
  id,
  tenant_id: tenant,
  slug,
  display_name: slug,
  region: 'nyc3',
  state,
  llm_mode: 'standard',
  billing_action_suspended: hold !== null,
  billing_action_suspended_by: hold?.by ?? null,
  billing_action_suspended_at: hold?.at ?? null,
  billing_action_suspended_reason: hold?.reason ?? null,
  template_code: null,
  template_version: null,
})

const moves = ({ id, events }: Deployment) =>
  events.map(event => ({ deployment_id: id, reason: null, ...event }))

export const priceOf = (plan: string): number => 1000 * (1 + PLANS.indexOf(plan as (typeof PLANS)[number]))

function subscriptionOf({ id, slug, subscription }: Deployment) {
  if (subscription === null) return null
  const { plan, status, since } = subscription
  const { start, end } = monthOf(since)
  const version = `V:${plan}`
  return {
    id: `U:${slug}`,
    deployment_id: id,
    plan_code: plan,
    plan_version_id: version,
    plan: { code: plan, name: plan },
    plan_version: {
      id: version,
      version: 1,
      base_price_cents: priceOf(plan),
      currency: 'USD',
      status: 'active',
    },
    status,
    current_period_start: iso(start).slice(0, 10),
    current_period_end: iso(end - 1).slice(0, 10),
    addons: [],
  }
}

/** A month is priced by what held last within it. */
function usage(world: World, { id, tenant, terms }: Deployment, month: Month) {
  const used = usedSeconds(world, id, month)
  const over = month.end <= world.now
  const living = (kind: string) =>
    world.things.filter(
      thing => thing.kind === kind && thing.row?.deployment === id && thing.row.deletedAt === null,
    ).length
  const last = Math.min(month.end - 1, world.now)
  const agreed = terms.findLast(
    ({ from, to }) => from <= last && (to === null || to > Math.max(from, month.start)),
  )
  const price = agreed ? priceOf(agreed.plan) : 0
  return {
    deployment_id: id,
    tenant_id: tenant,
    period: month.period,
    plan_code: agreed?.plan ?? null,
    base_price_cents: price,
    total_cents: price,
    kinds: ['droplet', 'volume']
      .map(kind => ({ kind, used_seconds: used.get(kind) ?? 0, live: over ? null : living(kind) }))
      .filter(({ used_seconds, live }) => used_seconds > 0 || (live ?? 0) > 0),
  }
}

/** What tenants with deployments or lines are charged and cost. */
function marginsByTenant(world: World) {
  const { lines, deployments } = world
  const tenants = new Set([...deployments, ...lines].flatMap(({ tenant }) => tenant ?? []))
  return [...tenants].map(tenant => {
    const own = deployments.filter(deployment => deployment.tenant === tenant)
    const prices = own.map(deployment => usage(world, deployment, monthOf(START)).total_cents)
    return {
      tenant_id: tenant,
      deployments: own.length,
      charged:
        own.length === 0
          ? []
          : [{ currency: 'USD', amount_minor: prices.reduce((sum, price) => sum + price, 0) }],
      costs: costs(lines.filter(line => line.tenant === tenant)),
    }
  })
}

const costs = (lines: readonly Line[]) => (lines.length === 0 ? [] : [sumOf(lines)])

function resourceRow({ id, kind, provider_id, row }: Thing) {
  const { name, tags, size, tenant, project, deployment, strikes, firstSeen, lastSeen, deletedAt } = row!
  return {
    id,
    provider: 'digitalocean',
    provider_id,
    kind,
    name,
    region: 'nyc3',
    status: kind === 'droplet' ? 'active' : null,
    tenant_id: tenant,
    project_id: project,
    deployment_id: deployment,
    tags,
    attrs: { size_slug: size },
    first_seen_at: iso(firstSeen),
    last_seen_at: iso(lastSeen),
    stale_strike_count: strikes,
    deleted_at: deletedAt === null ? null : iso(deletedAt),
  }
}

/** A tenant is shown its own times; of what was before it came, nothing. */
function eventsFor(world: World, caller: Caller, { id, events }: Thing) {
  const all = !HANDS || seesAll(world, caller)
  return events
    .filter(({ owner }) => all || owner === caller.tenant)
    .map(({ kind, changes, actor, created_at, arrival }: ResourceEvent) => ({
      kind,
      resource_id: id,
      changes: !all && arrival && changes ? withoutBefore(changes) : changes,
      actor,
      created_at,
    }))
}

const withoutBefore = (changes: NonNullable<ResourceEvent['changes']>) =>
  Object.fromEntries(
    Object.entries(changes)
      .filter(([, { after }]) => after !== null)
      .map(([field, { after }]) => [field, { before: null, after }]),
  )

/** A tenant is shown what was said and found while it had the resource. */
const isOwnTime = (world: World, caller: Caller, owner: string | null): boolean =>
  !HANDS || seesAll(world, caller) || owner === caller.tenant

const desiredState = (world: World, caller: Caller, { desired }: Thing) =>
  desired && isOwnTime(world, caller, desired.owner)
    ? { spec: desired.spec, spec_version: desired.version, saga_id: null }
    : null

function driftRow(thing: Thing, { id, field, desired, actual, status, resolved_by }: Drift) {
  const { name, tenant, deletedAt } = thing.row!
  return {
    id,
    resource_id: thing.id,
    kind: thing.kind,
    name,
    provider_id: thing.provider_id,
    tenant_id: tenant,
    resource_deleted_at: deletedAt === null ? null : iso(deletedAt),
    field,
    desired,
    actual,
    status,
    resolved_by,
    ignore_rule_id: null,
  }
}

const projectRow = ({ id, provider_id, isDefault, tenant, purpose }: Project) => ({
  id,
  provider: 'digitalocean',
  provider_id,
  name: provider_id,
  description: null,
  is_default: isDefault,
  tenant_id: tenant,
  purpose,
})

const sagaRow = ({ id, deployment, status }: Saga, operator: boolean) => ({
  id,
  kind: 'deprovision_deployment',
  status,
  inputs: { deployment_id: deployment },
  /** What happened at the provider is the operator's to read. */
  in_full: operator,
})

function lineRow(line: Line, operator: boolean) {
  const { id, invoice, line_number, kind, amount, resource, tenant, deployment } = line
  const taxed = isTaxed(line)
  return {
    id,
    invoice_id: invoice,
    period: '2026-11-01',
    line_number,
    product: kind === 'droplet' ? 'Droplets' : 'Volumes',
    group_description: null,
    description: descriptionOf(line),
    kind,
    resource_id: resource,
    deployment_id: deployment,
    tenant_id: tenant,
    matched_by: resource === null ? null : 'auto',
    hours: '1',
    amount,
    amount_minor: minorOf(line),
    currency: 'USD',
    project_name: operator ? 'a project' : null,
    category: 'iaas',
    is_tax: taxed,
    tax_flagged: taxed,
    extra: {},
  }
}

export const descriptionOf = ({ kind, name }: Pick<Line, 'kind' | 'name'>): string =>
  kind === 'droplet' ? `${name} (s-1)` : `${name} (nyc3) 10GB`
