// Rows as a caller is shown them, once ids are symbols (compare.ts).
import { PLANS } from './choices.ts'
import { isTaxed, minorOf, sumOf, unitsIn, usedSeconds } from './lines.ts'
import { attachedTo } from './provider.ts'
import { seesAll } from './rules.ts'
import {
  type Caller,
  type Deployment,
  type Drift,
  iso,
  type Line,
  type Month,
  monthOf,
  type Project,
  type ResourceEvent,
  type Saga,
  START,
  type Statement,
  type Thing,
  type World,
} from './world.ts'

export const deploymentRow = ({ id, tenant, slug, state, hold }: Deployment) => ({
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

export const moves = ({ id, events }: Deployment) =>
  events.map(event => ({ deployment_id: id, reason: null, ...event }))

export const priceOf = (plan: string): number => 1000 * (1 + PLANS.indexOf(plan as (typeof PLANS)[number]))

export function subscriptionOf({ id, slug, subscription }: Deployment) {
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
    scheduled_versions: [],
    scheduled_addons: [],
  }
}

/** What a unit of the meter costs, whatever the plan. */
export const CENTS_A_UNIT = 3

/** A month costs each plan's price for its seconds; the plan that held last is shown. */
export function usage(world: World, { id, tenant, terms }: Deployment, month: Month) {
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
  const second = (at: number) => BigInt(Math.floor(at / 1000))
  const parts = terms.map(({ plan, from, to }) => {
    const seconds = second(Math.min(to ?? Infinity, month.end)) - second(Math.max(from, month.start))
    return seconds > 0n ? BigInt(priceOf(plan)) * seconds : 0n
  })
  const whole = second(month.end) - second(month.start)
  const price = Number((2n * parts.reduce((sum, part) => sum + part, 0n) + whole) / (2n * whole))
  return {
    deployment_id: id,
    tenant_id: tenant,
    period: month.period,
    plan_code: agreed?.plan ?? null,
    base_price_cents: price,
    total_cents: price + CENTS_A_UNIT * unitsIn(world, id, month),
    kinds: ['droplet', 'volume']
      .map(kind => ({ kind, used_seconds: used.get(kind) ?? 0, live: over ? null : living(kind) }))
      .filter(({ used_seconds, live }) => used_seconds > 0 || (live ?? 0) > 0),
  }
}

/** What tenants with deployments or lines are charged and cost. */
export function marginsByTenant(world: World) {
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

export const costs = (lines: readonly Line[]) => (lines.length === 0 ? [] : [sumOf(lines)])

export function resourceRow({ id, kind, provider_id, row }: Thing) {
  const {
    name,
    tags,
    size,
    tenant,
    project,
    deployment,
    strikes,
    missingSince,
    firstSeen,
    lastSeen,
    deletedAt,
  } = row!
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
    attrs:
      kind === 'droplet' ? { size_slug: size } : { size_slug: size, droplet_ids: attachedTo(provider_id) },
    first_seen_at: iso(firstSeen),
    last_seen_at: iso(lastSeen),
    stale_strike_count: strikes,
    missing_since: missingSince === null ? null : iso(missingSince),
    deleted_at: deletedAt === null ? null : iso(deletedAt),
  }
}

/** A tenant is shown its own times; of what was before it came, nothing. */
export function eventsFor(world: World, caller: Caller, { id, events }: Thing) {
  const all = seesAll(world, caller)
  return events
    .filter(({ owner }) => all || owner === caller.tenant)
    .map(({ kind, changes, actor, created_at, arrival }: ResourceEvent) => ({
      kind,
      resource_id: id,
      changes: !all && arrival && changes ? withoutBefore(changes) : changes,
      actor,
      action: null,
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
export const isOwnTime = (world: World, caller: Caller, owner: string | null): boolean =>
  seesAll(world, caller) || owner === caller.tenant

export const desiredState = (world: World, caller: Caller, { desired }: Thing) =>
  desired && isOwnTime(world, caller, desired.owner)
    ? { spec: desired.spec, spec_version: desired.version, saga_id: null }
    : null

export function driftRow(thing: Thing, { id, field, desired, actual, status, resolved_by }: Drift) {
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
    action: null,
  }
}

export const statementRow = (
  { id, deployment, period, sequence, adjusts, total }: Statement,
  { slug, tenant }: Deployment,
) => ({
  ...{ id, deployment_id: deployment, subscription_id: `U:${slug}`, tenant_id: tenant },
  ...{ period, sequence, adjusts, currency: 'USD', total_cents: total },
})

export const projectRow = ({ id, provider_id, isDefault, tenant, purpose }: Project) => ({
  id,
  provider: 'digitalocean',
  provider_id,
  name: provider_id,
  description: null,
  is_default: isDefault,
  tenant_id: tenant,
  purpose,
})

export const sagaRow = ({ id, deployment, status }: Saga, operator: boolean) => ({
  id,
  kind: 'deprovision_deployment',
  status,
  inputs: { deployment_id: deployment },
  /** What happened at the provider is the operator's to read. */
  in_full: operator,
})

export function lineRow(line: Line, operator: boolean) {
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
