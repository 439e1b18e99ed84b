// An answer as the model would write it: ids are symbols, what the model does not keep is left out, and rows that no order
// is promised for are sorted.
import { isDeepStrictEqual } from 'node:util'
import type { Shown } from './looks.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Our own times, which say nothing of whose things are. */
const TIMES = new Set([
  'created_at',
  'updated_at',
  'detected_at',
  'last_detected_at',
  'resolved_at',
  'trial_ends_at',
  'start_at',
  'end_at',
])
const OF_RUNS = new Set(['id', 'kind', 'status', 'inputs'])
const OF_USAGE = new Set([
  'deployment_id',
  'tenant_id',
  'period',
  'plan_code',
  'base_price_cents',
  'total_cents',
  'kinds',
])
/** Of sums of money what is not shown of them elsewhere. */
const OF_SUMS = new Set([
  'currency',
  'amount_minor',
  'tax_minor',
  'unmatched',
  'by_tenant',
  'by_deployment',
  'tenant_id',
  'deployment_id',
])
/** Numbers, hashes and lines are held elsewhere. */
const OF_STATEMENTS = new Set([
  ...['id', 'deployment_id', 'subscription_id', 'tenant_id', 'period', 'sequence', 'adjusts', 'currency'],
  'total_cents',
])
const OF_MARGINS = new Set(['tenant_id', 'deployments', 'charged', 'costs'])
const OF_KINDS = new Set(['kind', 'used_seconds', 'live'])

export function readable(text: string, symbols: ReadonlyMap<string, string>): Json {
  const named = text.replace(UUID, id => symbols.get(id) ?? 'another id')
  return tidy(JSON.parse(named))
}

/** What is kept of an object that has the member. */
const SHAPES: readonly (readonly [member: string, kept: ReadonlySet<string>])[] = [
  ['step_modules', OF_RUNS],
  ['metered_until', OF_USAGE],
  ['used_seconds', OF_KINDS],
  ['margin', OF_MARGINS],
  ['content_hash', OF_STATEMENTS],
  ['net_minor', OF_SUMS],
  ['flagged_lines', new Set(['amount_minor', 'tax_minor'])],
]

function tidy(value: Json): Json {
  if (typeof value === 'string') return value.replace(/^(sync|drift):.*$/, '$1')
  if (Array.isArray(value)) return value.map(tidy)
  if (value === null || typeof value !== 'object') return value
  const only = SHAPES.find(([member]) => member in value)?.[1]
  const event = 'from_state' in value || ('changes' in value && 'actor' in value)
  const project = 'is_default' in value
  const kept = Object.entries(value).filter(([key]) => {
    if (only) return only.has(key)
    if (event) return key !== 'id'
    return !TIMES.has(key) && !(project && key.endsWith('_at'))
  })
  const tidied = Object.fromEntries(kept.map(([key, part]) => [key, tidy(part)]))
  return only === OF_RUNS ? { ...tidied, in_full: tellsOfProvider(value) } : tidied
}

/** Whether a run shows what its steps wrote down. */
function tellsOfProvider({ context, steps = [] }: { [key: string]: Json }): boolean {
  const outputs = (steps as { output: Json }[]).map(({ output }) => output)
  return Object.keys(context as object).length > 0 || outputs.some(output => output !== null)
}

/** The status, the code of a problem, and the data without an order that nobody promised. */
export function summary(status: number, body: Json, list: boolean): Shown {
  const { data, code, unassigned } = (body ?? {}) as { data?: Json; code?: string; unassigned?: Json }
  if (status >= 400) return { status, code }
  return { status, data: inOrder(unassigned === undefined ? data : { rows: data, unassigned }, list) }
}

/** Members whose order is that of times within a step, of equal amounts, or of ids. */
const UNORDERED = new Set([
  'events',
  'drift',
  'rows',
  'by_tenant',
  'by_deployment',
  'resources',
  'relations',
  'losses',
])

function inOrder(value: unknown, unordered: boolean): unknown {
  if (Array.isArray(value)) {
    const items = value.map(item => inOrder(item, false))
    return unordered ? items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : items
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, inOrder(part, UNORDERED.has(key))]),
  )
}

const keyOf = (row: unknown): string => {
  const { created_at = '', id = '' } = row as { created_at?: string; id?: string }
  return `${created_at} ${id} ${JSON.stringify(canonical(row))}`
}

/** The same text for the same value, whatever the order of its members. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, canonical(part)]),
  )
}

export const expected = ({ data, ...answer }: Shown, list: boolean): Shown =>
  data === undefined ? answer : { ...answer, data: inOrder(data, list) }

export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(canonical(a), canonical(b))
