// The history against the database: whatever was answered is there, once, and nothing else is.
import type { Intent } from './client.ts'
import type { Cluster } from './cluster.ts'
import type { Effect } from './operations.ts'

type Ask = Cluster['ask']

/** A table's key as the API knows it, and which of its rows callers make; those not named here have none of their own. */
const TABLES: Record<string, { key?: string; where?: string }> = {
  addons: {},
  api_keys: {},
  cloud_deployments: {},
  drift_ignore_rules: {},
  invitations: {},
  meters: { key: 'code' },
  plan_versions: {},
  plans: {},
  resource_prices: {},
  roles: { key: 'name' },
  saga_runs: {},
  secrets: { key: 'name' },
  storage_backends: {},
  subscription_addons: {},
  subscriptions: {},
  task_runs: { where: "requested_by = 'ada'" },
  users: { key: 'user_id' },
  webhooks: {},
}

/** Of these only the number is known to callers. */
const COUNTED: Record<string, string> = {
  cloud_line_assignments: 'true',
  cloud_provisioned: 'saga_id is null',
}

interface Done {
  intent: Intent
  effect: Effect
}

const doneOf = (history: Intent[]): Done[] =>
  history.flatMap(intent =>
    intent.outcome === 'done' ? intent.effects.map(effect => ({ intent, effect })) : [],
  )

export async function checkEffects(history: Intent[], ask: Ask): Promise<string[]> {
  const done = doneOf(history)
  return [
    ...(await checkRows(done, ask)),
    ...(await checkValues(done, ask)),
    ...(await checkMoves(history, ask)),
    ...(await checkAudit(done, ask)),
  ]
}

async function checkRows(done: Done[], ask: Ask): Promise<string[]> {
  const found: string[] = []
  for (const [table, { key = 'id', where = 'true' }] of Object.entries(TABLES)) {
    const expected = new Set<string>()
    for (const { effect } of done) {
      if (effect.table !== table || !effect.row) continue
      if (effect.action === 'created') expected.add(effect.row)
      if (effect.action === 'deleted') expected.delete(effect.row)
    }
    const rows = await ask<{ key: string }>(`select ${key}::text as key from ${table} where ${where}`)
    const actual = new Set(rows.map(row => row.key))
    const [extra, missing] = [without(actual, expected), without(expected, actual)]
    if (extra.length > 0)
      found.push(
        `doubled effect: ${extra.length} of ${actual.size} rows of ${table} were answered to nobody (${extra[0]})`,
      )
    if (missing.length > 0)
      found.push(
        `lost write: ${missing.length} of ${expected.size} answered rows of ${table} are missing (${missing[0]})`,
      )
  }
  for (const [table, where] of Object.entries(COUNTED)) {
    const of = (action: string) =>
      done.filter(({ effect }) => effect.table === table && effect.action === action).length
    const expected = of('created') - of('deleted')
    const [row] = await ask<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`)
    if (row!.count !== expected) found.push(`${table} has ${row!.count} rows where ${expected} were answered`)
  }
  return found
}

const without = (all: Set<string>, those: Set<string>) => [...all].filter(one => !those.has(one))

/** Columns that a request sets as its body names them. */
const VALUES: Partial<Record<Intent['operation'], string[]>> = {
  renamePlan: ['name'],
  replacePlanVersion: ['base_price_cents'],
  changeAddon: ['price_cents'],
  changeDeployment: ['display_name'],
  transitionDeployment: ['state'],
  assignProject: ['tenant_id', 'purpose'],
  changeWebhook: ['description'],
  changeStorageBackend: ['name'],
  changeRole: ['description'],
  changeUser: ['display_name'],
}

async function checkValues(done: Done[], ask: Ask): Promise<string[]> {
  const found: string[] = []
  const last = new Map<string, Map<string, Record<string, unknown>>>()
  for (const { intent, effect } of done) {
    for (const column of VALUES[intent.operation] ?? []) {
      const rows = last.get(effect.table) ?? new Map<string, Record<string, unknown>>()
      last.set(effect.table, rows)
      rows.set(effect.row, { ...rows.get(effect.row), [column]: intent.body[column] })
    }
  }
  for (const [table, rows] of last) {
    const key = TABLES[table]?.key ?? 'id'
    const actual = await ask<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${table} t`)
    for (const { row } of actual) {
      for (const [column, value] of Object.entries(rows.get(String(row[key])) ?? {})) {
        if (row[column] === value) continue
        found.push(
          `lost write: ${table} ${row[key]} has ${column} ${row[column]}, and ${value} was answered last`,
        )
      }
    }
  }
  return found
}

interface MovedRow {
  id: string
  state: string
  events: { id: string; from: string; to: string }[] | null
}

/** Every move that was answered has its one event, and the events of a deployment lead from its first state to its last. */
async function checkMoves(history: Intent[], ask: Ask): Promise<string[]> {
  const answered = new Map<string, Set<string>>()
  for (const { operation, outcome, answer } of history) {
    if (operation !== 'transitionDeployment' || outcome !== 'done') continue
    const { id, event } = answer!.body.data
    answered.set(id, (answered.get(id) ?? new Set()).add(event.id))
  }
  const rows = await ask<MovedRow>(`
    select d.id, d.state, (select jsonb_agg(jsonb_build_object('id', e.id, 'from', e.from_state, 'to', e.to_state) order by e.id)
      from cloud_deployment_events e where e.deployment_id = d.id) as events
    from cloud_deployments d`)
  const wrong = { lost: 0, doubled: 0, broken: 0 }
  for (const { id, state, events } of rows) {
    const ids = new Set((events ?? []).map(event => event.id))
    const told = answered.get(id) ?? new Set()
    wrong.lost += without(told, ids).length
    wrong.doubled += without(ids, told).length
    const chained = (events ?? []).every((event, n, all) => n === 0 || all[n - 1]!.to === event.from)
    if (!chained || (events && events.at(-1)!.to !== state)) wrong.broken++
  }
  return [
    ...(wrong.lost > 0 ? [`lost write: ${wrong.lost} answered moves have no event`] : []),
    ...(wrong.doubled > 0
      ? [`doubled effect: ${wrong.doubled} events of moves were answered to nobody`]
      : []),
    ...(wrong.broken > 0 ? [`${wrong.broken} deployments whose events do not lead to their state`] : []),
  ]
}

interface EntryCount {
  operation: string
  subject_type: string
  action: string
  subject_id: string
  count: number
}

async function checkAudit(done: Done[], ask: Ask): Promise<string[]> {
  const expected = new Map<string, { least: number; most: number }>()
  const unlogged = new Set<string>()
  const sorts = new Set<string>()
  for (const { intent, effect } of done) {
    const sort = `${intent.operation} ${effect.table} ${effect.action}`
    sorts.add(sort)
    if (effect.id === null) unlogged.add(sort)
    const name = `${sort} ${effect.id ?? '*'}`
    const { least, most } = expected.get(name) ?? { least: 0, most: 0 }
    expected.set(name, { least: least + (effect.maybe ? 0 : 1), most: most + 1 })
  }
  const rows = await ask<EntryCount>(
    `select operation, subject_type, action, subject_id, count(*)::int as count from audit_log group by 1, 2, 3, 4`,
  )
  const actual = new Map<string, number>()
  for (const { operation, subject_type, action, subject_id, count } of rows) {
    const sort = `${operation} ${subject_type} ${action}`
    if (!sorts.has(sort)) continue
    const name = `${sort} ${unlogged.has(sort) ? '*' : subject_id}`
    actual.set(name, (actual.get(name) ?? 0) + count)
  }
  const wrong = new Map<string, { missing: number; extra: number }>()
  for (const name of new Set([...expected.keys(), ...actual.keys()])) {
    const { least, most } = expected.get(name) ?? { least: 0, most: 0 }
    const count = actual.get(name) ?? 0
    const sort = name.split(' ').slice(0, 3).join(' ')
    const of = wrong.get(sort) ?? { missing: 0, extra: 0 }
    wrong.set(sort, {
      missing: of.missing + Math.max(0, least - count),
      extra: of.extra + Math.max(0, count - most),
    })
  }
  return [...wrong].flatMap(([sort, { missing, extra }]) => [
    ...(missing > 0 ? [`audit log: ${missing} entries are missing (${sort})`] : []),
    ...(extra > 0 ? [`audit log: ${extra} entries too many (${sort})`] : []),
  ])
}
