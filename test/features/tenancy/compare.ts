// An answer as the model would write it: ids are symbols, what the model does not keep is left out, and rows that no order
// is promised for are sorted.
import { isDeepStrictEqual } from 'node:util'
import type { Shown } from './shown.ts'

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
const OF_KINDS = new Set(['kind', 'used_seconds', 'live'])

export function readable(text: string, symbols: ReadonlyMap<string, string>): Json {
  const named = text.replace(UUID, id => symbols.get(id) ?? 'another id')
  return tidy(JSON.parse(named))
}

function tidy(value: Json): Json {
  if (typeof value === 'string') return value.replace(/^(sync|drift):.*$/, '$1')
  if (Array.isArray(value)) return value.map(tidy)
  if (value === null || typeof value !== 'object') return value
  const only =
    'step_modules' in value
      ? OF_RUNS
      : 'metered_until' in value
        ? OF_USAGE
        : 'used_seconds' in value
          ? OF_KINDS
          : null
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
  const { data, code } = (body ?? {}) as { data?: Json; code?: string }
  if (status >= 400) return { status, code }
  return { status, data: list && Array.isArray(data) ? sorted(data) : withSortedEvents(data) }
}

const sorted = (rows: readonly unknown[]): unknown[] =>
  rows.map(withSortedEvents).toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))

const keyOf = (row: unknown): string => {
  const { created_at = '', id = '' } = row as { created_at?: string; id?: string }
  return `${created_at} ${id} ${JSON.stringify(canonical(row))}`
}

function withSortedEvents(data: unknown): unknown {
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return data
  const copy = { ...data } as Record<string, unknown>
  for (const member of ['events', 'drift'])
    if (Array.isArray(copy[member])) copy[member] = sorted(copy[member])
  return copy
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
  data === undefined ? answer : summary(answer.status, { data } as Json, list)

export const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(canonical(a), canonical(b))
