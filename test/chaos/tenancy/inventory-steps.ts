// What becomes of the inventory in the model: sightings, strikes, projects that change hands, drift.
import { isDeepStrictEqual } from 'node:util'
import { tieOf } from './rules.ts'
import {
  type Changes,
  type Deployment,
  type Drift,
  iso,
  type ResourceEvent,
  type Row,
  type Thing,
  type World,
} from './world.ts'

const STRIKES = 3

interface Told {
  kind: ResourceEvent['kind']
  actor: string
}

/** The only writer of rows: ties follow tags, else an operator, and end with the tenant; whatever changes is told. */
function write(world: World, thing: Thing, patch: Partial<Row>, { kind, actor }: Told): void {
  const before = thing.row
  const next = { ...(before ?? nothingKnown(world)), ...patch }
  const tag = next.project === null ? null : tieOf(world, next.tags, next.tenant)
  const holds = 'assigned' in patch || before === null || before.tenant === next.tenant
  const assigned = tag === null && holds ? next.assigned : null
  const after: Row = { ...next, deployment: tag ?? assigned, assigned }
  thing.row = after
  const moved = before === null || before.tenant !== after.tenant
  if (moved) thing.hands.push({ at: world.now, tenant: after.tenant })
  if (before === null || before.deployment !== after.deployment)
    thing.ties.push({ at: world.now, deployment: after.deployment })
  if (kind === 'discovered' || kind === 'restored') thing.lives.push({ at: world.now, alive: true })
  const changes = before && changesBetween(before, after)
  if (kind === 'updated' && changes === null) return
  tell(world, thing, { kind, actor, changes, arrival: moved })
}

const nothingKnown = (world: World): Row => ({
  name: '',
  tags: [],
  size: '',
  tenant: null,
  project: null,
  deployment: null,
  assigned: null,
  strikes: 0,
  missingSince: null,
  firstSeen: world.now,
  lastSeen: world.now,
  deletedAt: null,
})

function tell(world: World, thing: Thing, event: Omit<ResourceEvent, 'created_at' | 'owner'>): void {
  thing.events.push({ ...event, created_at: iso(world.now), owner: thing.row!.tenant })
  if (event.kind !== 'drift_detected') thing.past.push({ at: world.now, row: structuredClone(thing.row!) })
}

export const FIELDS: Record<string, keyof Row> = {
  name: 'name',
  tags: 'tags',
  'attrs.size_slug': 'size',
  tenant_id: 'tenant',
  project_id: 'project',
  deployment_id: 'deployment',
}

function changesBetween(before: Row, after: Row): Changes | null {
  const changes = Object.entries(FIELDS)
    .filter(([, field]) => !isDeepStrictEqual(before[field], after[field]))
    .map(([name, field]) => [name, { before: before[field], after: after[field] }])
  return changes.length > 0 ? Object.fromEntries(changes) : null
}

/** Where the projects' lists put it; where it was, when none of them names it. */
const placeOf = (world: World, thing: Thing): Pick<Row, 'project' | 'tenant'> | null => {
  const held = thing.listed ?? thing.row?.project
  const project = world.projects.find(({ id }) => id === held)
  return project ? { project: project.id, tenant: project.tenant } : null
}

/** The provider shows it. */
export function see(world: World, thing: Thing, actor: string): void {
  const { name, size } = thing.real
  const seen = {
    name,
    size,
    tags: [...new Set(thing.real.tags)].sort(),
    lastSeen: world.now,
    strikes: 0,
    missingSince: null,
  }
  const gone = thing.row === null || thing.row.deletedAt !== null
  const place = gone ? placeOf(world, thing) : null
  const kind = thing.row === null ? 'discovered' : gone ? 'restored' : 'updated'
  write(world, thing, { ...seen, ...place, deletedAt: null }, { kind, actor })
}

export function sweepKind(world: World, kind: Thing['kind']): void {
  for (const thing of world.things.filter(one => one.kind === kind)) {
    if (thing.real.there) {
      see(world, thing, 'sync')
      continue
    }
    const { row } = thing
    if (row === null || row.deletedAt !== null) continue
    row.strikes += 1
    row.missingSince ??= world.now
    if (row.strikes >= STRIKES) lose(world, thing, 'sync')
  }
}

/** It is known to be gone. */
export function lose(world: World, thing: Thing, actor: string): void {
  thing.row!.deletedAt = world.now
  thing.lives.push({ at: world.now, alive: false })
  tell(world, thing, { kind: 'deleted', actor, changes: null, arrival: false })
}

export function sweepProjects(world: World): void {
  for (const thing of world.things) {
    if (thing.real.there) thing.listed = `P:${thing.real.project}`
    else thing.listed = null
    rehome(world, thing, 'sync')
  }
}

/** A living resource follows its project. */
function rehome(world: World, thing: Thing, actor: string): void {
  const { row } = thing
  if (row === null || row.deletedAt !== null) return
  const place = placeOf(world, thing)
  if (place && (place.project !== row.project || place.tenant !== row.tenant))
    write(world, thing, place, { kind: 'updated', actor })
}

/** An operator says what it is for; what is in no project is then whose that is. */
export const assignTo = (world: World, thing: Thing, to: Deployment | null, actor: string): void =>
  write(
    world,
    thing,
    { assigned: to?.id ?? null, ...(thing.row!.project === null && { tenant: to?.tenant ?? null }) },
    { kind: 'updated', actor },
  )

/** The project has another tenant; so has what it holds. */
export function projectChangedHands(world: World, project: string, actor: string): void {
  for (const thing of world.things)
    if (thing.listed === project || thing.row?.project === project) rehome(world, thing, actor)
}

export const liveValue = ({ name, tags, size, deployment, tenant }: Row, field: string): unknown =>
  ({ name, tags, size_slug: size, deployment_id: deployment, tenant_id: tenant })[field] ?? null

const openOf = (thing: Thing): Drift[] => thing.drifts.filter(({ status }) => status === 'open')

/** What was desired in other hands rests. */
export const isInForce = ({ row, desired }: Thing): boolean =>
  desired !== null && desired.owner === row!.tenant

export function detectDrift(world: World): void {
  for (const thing of world.things) {
    const { row, desired } = thing
    if (row === null) continue
    const found: [field: string, desired: unknown, actual: unknown][] =
      desired === null || !isInForce(thing)
        ? []
        : row.deletedAt !== null
          ? [['deleted_at', null, iso(row.deletedAt)]]
          : Object.entries(desired.spec)
              .map(([field, value]): [string, unknown, unknown] => [field, value, liveValue(row, field)])
              .filter(([, value, live]) => !alike(value, live))
    for (const drift of openOf(thing))
      if (!found.some(([field]) => field === drift.field)) close(drift, 'stale', 'drift')
    for (const [field, value, actual] of found) {
      const known = openOf(thing).find(drift => drift.field === field)
      const news = !known || !isDeepStrictEqual(known.actual, actual)
      if (known) Object.assign(known, { desired: value, actual })
      else {
        const nth = thing.drifts.filter(drift => drift.field === field).length + 1
        thing.drifts.push({
          id: `X:${thing.provider_id}:${field}:${nth}`,
          field,
          desired: value,
          actual,
          status: 'open',
          resolved_by: null,
          owner: row.tenant,
        })
      }
      if (!news) continue
      const changes = { [field]: { before: value, after: actual } }
      tell(world, thing, { kind: 'drift_detected', actor: 'drift', changes, arrival: false })
    }
  }
}

export function close(drift: Drift, status: Drift['status'], by: string | null): void {
  Object.assign(drift, { status, resolved_by: by })
}

/** Drift of fields that are no longer desired is over, and so is what was found in other hands. */
export function desire(thing: Thing, spec: Record<string, unknown>): void {
  const same = thing.desired !== null && isDeepStrictEqual(thing.desired.spec, spec)
  const version = (thing.desired?.version ?? 0) + (same ? 0 : 1)
  thing.desired = { spec, version, owner: thing.row!.tenant }
  const { tenant } = thing.row!
  for (const drift of openOf(thing))
    if (!(drift.field in spec) || drift.owner !== tenant) close(drift, 'stale', null)
}

/** Nothing is desired of it any more. */
export function undesire(thing: Thing): void {
  thing.desired = null
  for (const drift of openOf(thing)) close(drift, 'stale', null)
}

const alike = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) && Array.isArray(b) ? isDeepStrictEqual(a.toSorted(), b.toSorted()) : a === b
