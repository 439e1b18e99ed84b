// Where the live value of a spec's field is found, as SQL: the resource's own column of that name first, then its
// attributes. Columns that merely say what the mirror does (when it saw the resource, how often it did not) do not count.

/** Of cloud_resources `r`; `field` is an SQL expression. Null when there is none. */
export const liveValue = (field: string): string => `case
  when ${field} <> all ('{${COLUMNS.join(',')}}') then r.attrs -> ${field}
  else coalesce(case ${field} ${COLUMNS.map(column => `when '${column}' then to_jsonb(r.${column})`).join(' ')} end,
    r.attrs -> ${field})
end`

const MIRRORS = 'says what the mirror has seen, not how the resource is'
const NAMES = 'names the resource, and never changes'
const SPELLING = 'is spelt without `attrs`: an attribute is a field of the spec by its own name'

/** Fields that no spec may name, and why: there is no live value of theirs that could be brought about. */
const REFUSED = new Map([
  ['first_seen_at', MIRRORS],
  ['last_seen_at', MIRRORS],
  ['stale_strike_count', MIRRORS],
  ['deleted_at', MIRRORS],
  ['id', NAMES],
  ['provider_id', NAMES],
  ['attrs', SPELLING],
])
const ATTRIBUTE = 'attrs.'

/** Why a spec may not name the field; undefined when it may. */
export const refusedField = (field: string): string | undefined =>
  REFUSED.get(field) ?? (field.startsWith(ATTRIBUTE) ? SPELLING : undefined)

/** Whether the field may be named, as SQL. Specs from before there was this rule may name others: those do not count. */
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
