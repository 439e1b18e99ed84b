// What must not be after a trial: a strike or a deletion of what is at the provider, one change told twice, an end that is not
// as the provider is. And what is counted: events that an action made and that do not name it.
import { type Change, keyOf, same, type Truth } from './truth.ts'
import { type Ask, differing, everything, type Row, type Sighting } from './watch.ts'

interface Event {
  kind: string
  actor: string
  created_at: string
  changes: Record<string, { before: unknown; after: unknown }> | null
  action: { id: number; type: string } | null
}

export interface Audit {
  events: number
  struck: number
  missing: number
  deleted: number
  wrong_strikes: string[]
  wrongly_missing: string[]
  wrong_deletions: string[]
  duplicate_events: string[]
  unlike_the_provider: string[]
  /** Changes that an action made and whose event names none, by who saw them first. */
  without_action: Record<string, number>
  /** The same, one by one. */
  blind: string[]
  /** Of those that name one. */
  with_action: number
  /** New resources that have a project by now, and those of kinds that projects hold that have none. */
  placed: number
  placeless: string[]
}

const PLACES = new Set(['project_id', 'tenant_id', 'deployment_id'])
/** Kinds that the simulated provider puts into projects. */
const HELD = ['droplet', 'volume', 'load_balancer', 'domain', 'database', 'kubernetes_cluster', 'app']

export async function audit(ask: Ask, truth: Truth, seen: Sighting[]): Promise<Audit> {
  const rows = await everything(ask)
  const result: Audit = {
    events: 0,
    struck: rows.filter(row => row.stale_strike_count > 0).length,
    missing: rows.filter(row => row.missing_since !== null && row.deleted_at === null).length,
    deleted: rows.filter(row => row.deleted_at !== null).length,
    wrong_strikes: [],
    wrongly_missing: [],
    wrong_deletions: [],
    duplicate_events: [],
    unlike_the_provider: [],
    without_action: {},
    blind: [],
    with_action: 0,
    placed: 0,
    placeless: [],
  }
  const byKey = new Map(rows.map(row => [keyOf(row.kind, row.provider_id), row]))
  for (const [key, row] of byKey) {
    const there = truth.now.has(key)
    if (there && row.stale_strike_count > 0) result.wrong_strikes.push(key)
    if (there && row.missing_since !== null) result.wrongly_missing.push(key)
    if (there && row.deleted_at !== null) result.wrong_deletions.push(key)
    if (!there && row.deleted_at === null && row.missing_since === null)
      result.unlike_the_provider.push(`${key} is gone, and not missing`)
  }
  for (const [key, fields] of truth.now) {
    const row = byKey.get(key)
    const wrong = row ? differing(row, fields) : ['is not there']
    if (wrong.length > 0) result.unlike_the_provider.push(`${key}: ${wrong.join(', ')}`)
    const made = truth.changes.get(key)?.[0]
    if (made && row && HELD.includes(row.kind)) {
      if (row.project_id !== null) result.placed += 1
      else result.placeless.push(key)
    }
  }
  for (const [key, changes] of truth.changes) {
    const row = byKey.get(key)
    if (row) await checkEvents(ask, key, row, changes, seen, result)
  }
  return result
}

async function checkEvents(
  ask: Ask,
  key: string,
  row: Row,
  changes: Change[],
  seen: Sighting[],
  result: Audit,
): Promise<void> {
  const { data } = await ask(`/api/v1/inventory/${row.id}/events?limit=200`)
  const events = (data as Event[]).toReversed()
  result.events += events.length
  const of = (kind: string) => events.filter(event => event.kind === kind)
  if (of('discovered').length !== 1)
    result.duplicate_events.push(`${key}: discovered ${of('discovered').length}×`)
  if (of('deleted').length > 1 || of('restored').length > 0)
    result.duplicate_events.push(`${key}: ${events.map(({ kind }) => kind).join(', ')}`)
  const known = new Map<string, unknown>()
  let updates = 0
  for (const { changes: changed, kind } of events) {
    if (kind !== 'updated' || !changed) continue
    if (Object.keys(changed).some(field => !PLACES.has(field))) updates += 1
    for (const [field, { before, after }] of Object.entries(changed)) {
      if (same(before, after) || (known.has(field) && !same(known.get(field), before)))
        result.duplicate_events.push(`${key}: ${field} from ${text(before)} to ${text(after)}`)
      known.set(field, after)
    }
  }
  if (updates > changes.length)
    result.duplicate_events.push(`${key}: ${updates} events of ${changes.length} changes`)
  for (const sighting of seen) {
    if (keyOf(sighting.kind, sighting.id) !== key || !sighting.told || sighting.after === null) continue
    if (events.some(({ action }) => action?.id === sighting.action!.id)) result.with_action += 1
    else {
      const blind = events.find(({ created_at }) => Date.parse(created_at) >= sighting.at - 3_000)
      const who = `${sighting.action!.type} of a ${sighting.kind}, seen by ${blind?.actor.split(':', 1)[0]}`
      result.without_action[who] = (result.without_action[who] ?? 0) + 1
      result.blind.push(`${key}: ${text(sighting.action)} at ${new Date(sighting.at).toISOString()}`)
    }
  }
}

const text = (value: unknown) => JSON.stringify(value)?.slice(0, 80)
