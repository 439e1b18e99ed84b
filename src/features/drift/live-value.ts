// Where the live value of a spec's field is found, as SQL: the resource's own column of that name first, then its
// attributes. Columns that merely say what the mirror does (when it saw the resource, how often it did not) do not count.

/** Of cloud_resources `r`; `field` is an SQL expression. Null when there is none. */
export const liveValue = (field: string): string => `case
  when ${field} <> all ('{${COLUMNS.join(',')}}') then r.attrs -> ${field}
  else coalesce(case ${field} ${COLUMNS.map(column => `when '${column}' then to_jsonb(r.${column})`).join(' ')} end,
    r.attrs -> ${field})
end`

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
