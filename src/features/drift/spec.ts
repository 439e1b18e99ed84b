// The spec of a desired state: which fields it may name and how large it may be, where a field's live value is found, and
// when two values count as the same.
import type { FieldError } from '../../kernel/errors.ts'

export const MOST_FIELDS = 100
export const LONGEST_FIELD = 255
const DEEPEST = 8
const LARGEST_BYTES = 64 * 1024

/** What is wrong with a spec, if anything. A sweep reads every spec each hour, so they are kept small. */
export function specErrors(spec: Record<string, unknown>): FieldError[] {
  const errors = Object.entries(spec).flatMap(([field, value]) => {
    const pointer = `/spec/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const refused = refusedField(field)
    if (refused) return [{ pointer, message: refused }]
    if (depthOf(value) <= DEEPEST) return []
    return [{ pointer, message: `must not be nested more than ${DEEPEST} levels deep` }]
  })
  if (errors.length > 0) return errors
  return Buffer.byteLength(JSON.stringify(spec)) > LARGEST_BYTES
    ? [{ pointer: '/spec', message: `must not be larger than ${LARGEST_BYTES / 1024} KB` }]
    : []
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0)
}

const MIRRORS = 'says what the mirror has seen, not how the resource is'
const NAMES = 'names the resource, and never changes'
const SPELLING = 'is spelt without `attrs`: an attribute is a field of the spec by its own name'

/** Fields that no spec may name, and why: they have no live value that anybody could bring about. */
const REFUSED = new Map([
  ['first_seen_at', MIRRORS],
  ['last_seen_at', MIRRORS],
  ['stale_strike_count', MIRRORS],
  ['missing_since', MIRRORS],
  ['deleted_at', MIRRORS],
  ['id', NAMES],
  ['provider_id', NAMES],
  ['attrs', SPELLING],
])
const ATTRIBUTE = 'attrs.'

const refusedField = (field: string): string | undefined =>
  REFUSED.get(field) ?? (field.startsWith(ATTRIBUTE) ? SPELLING : undefined)

/** SQL: whether a spec may name the field. Specs older than this rule may name others, which are not compared. */
export const isComparable = (field: string): string =>
  `(${field} <> all ('{${[...REFUSED.keys()].join(',')}}') and not starts_with(${field}, '${ATTRIBUTE}'))`

/** drift_check() in the database knows them too: it must not take one for an attribute. */
export const COLUMNS = [
  'name',
  'region',
  'status',
  'tags',
  'kind',
  'id',
  'provider',
  'provider_id',
  'tenant_id',
  'project_id',
  'deployment_id',
] as const

/**
 * SQL: the live value of a field (an SQL expression) of cloud_resources `r`. The resource's own column of that name comes
 * first, then its attributes; null when there is neither.
 */
export const liveValue = (field: string): string => `case
  when ${field} <> all ('{${COLUMNS.join(',')}}') then r.attrs -> ${field}
  else coalesce(case ${field} ${COLUMNS.map(column => `when '${column}' then to_jsonb(r.${column})`).join(' ')} end,
    r.attrs -> ${field})
end`

/**
 * Whether the live value counts as the desired one. Loosely: scalars as text, lists as sets, objects by key, and what is
 * missing is null. Nothing else is forgiven: an empty list is not null, and a list is not the text that shows it.
 */
export const alike = (desired: unknown, actual: unknown): boolean => canonical(desired) === canonical(actual)

/** One text for all values that count as the same. */
function canonical(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join(',')}]`
  if (typeof value === 'object') return `{${members(value).sort().join(',')}}`
  return JSON.stringify(String(value))
}

/** A member that is null counts as missing. */
function members(object: object): string[] {
  return Object.entries(object)
    .map(([key, value]) => [JSON.stringify(key), canonical(value)])
    .filter(([, value]) => value !== 'null')
    .map(([key, value]) => `${key}:${value}`)
}
