// A check: what it looks for, and the SQL that all checks share. Each is a file of its own in checks/.
import { beingMade } from '../provisioning/index.ts'

export const CATEGORIES = ['waste', 'ownership', 'security', 'resilience', 'billing', 'operations'] as const
export const SEVERITIES = ['low', 'medium', 'high'] as const

/** How long something may be so before it is found; the configuration says how long. */
export interface Policy {
  off_days: number
  snapshot_days: number
  image_days: number
  sweep_failed_hours: number
}

export interface Check {
  /** In the API for good. */
  name: string
  title: string
  /** What it means, and what to do about it. */
  description: string
  category: (typeof CATEGORIES)[number]
  severity: (typeof SEVERITIES)[number]
  /** Whether the tenant whose resource it is reads it too. Then the evidence never names another tenant or its things. */
  forTenants: boolean
  /** `resource`: what the resource costs a month; `own`: what the query says; `none`: nothing. */
  cost: 'resource' | 'none' | 'own'
  /** What of the policy it follows. */
  policy?: keyof Policy
  /**
   * SQL that selects what is found now, as a set: resource_id, subject (unique within the check), tenant_id, deployment_id, since
   * and evidence (jsonb); with a cost of its own also monthly_cost (numeric), currency and cost_source. `NOW` and `policyOf` are
   * all that it is given.
   */
  query: string
}

/** SQL: when the checks run. */
export const NOW = '$1::timestamptz'

/** SQL: a number of the policy. */
export const policyOf = (name: keyof Policy): string => `($2::jsonb ->> '${name}')::int`

/** SQL: what a finding about a resource says of it; `row` is its row of cloud_resources. */
export const aboutResource = (row = 'r'): string =>
  `${row}.id as resource_id, ${row}.id::text as subject, ${row}.tenant_id, ${row}.deployment_id`

/** SQL: no saga is making the resource just now. */
export const notBeingMade = (row = 'r'): string => `not ${beingMade(row)}`

const WRITTEN_TIME = String.raw`^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`

/**
 * SQL: when the provider says that a resource was made; null where it does not, or not in a way that can be read. Counted up
 * from the year, because a cast would end the whole statement with the first day that does not exist.
 */
export function madeAt(row = 'r'): string {
  const text = `${row}.attrs ->> 'created_at'`
  const part = (from: number) => `substr(${text}, ${from}, 2)::int`
  return `case when ${text} ~ '${WRITTEN_TIME}' then ((left(${text}, 4) || '-01-01')::timestamp
    + make_interval(0, ${part(6)} - 1, 0, ${part(9)} - 1, ${part(12)}, ${part(15)}, ${part(18)})) at time zone 'UTC' end`
}

/**
 * SQL: since when a resource has been as `condition` says, of a row `v` of resource_versions, without a break up to now. What was
 * so when it was first seen has been so since the provider made it. The time of another tenant does not count: nobody is told
 * of it.
 */
export const heldSince = (condition: string, row = 'r'): string => `(
  select coalesce(
    max(v.valid_to) filter (where not coalesce((${condition}), false) or v.tenant_id <> ${row}.tenant_id),
    least(min(v.valid_from), ${madeAt(row)}))
  from resource_versions v where v.resource_id = ${row}.id and v.valid_from is distinct from v.valid_to)`

/** SQL: since when a resource has been there, and its tenant's. */
export const thereSince = (row = 'r'): string => heldSince('true', row)
