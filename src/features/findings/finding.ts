// What a finding looks like, in the API, in webhooks and in the table, and which checks a caller is shown.
import type { ColumnType } from 'kysely'
import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { Id, Nullable, Time, Whole } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import { CATEGORIES, type Check, type Policy, SEVERITIES } from './check.ts'
import { CHECKS } from './checks/index.ts'

export const STATUSES = ['open', 'snoozed', 'closed'] as const
export type Status = (typeof STATUSES)[number]

export const COST_SOURCES = ['invoice', 'list_price'] as const

export const Category = Type.Enum([...CATEGORIES])
export const Severity = Type.Enum([...SEVERITIES])

const FoundResource = noun('FoundResource', {
  id: Id,
  kind: Type.String(),
  provider_id: Type.String(),
  name: Type.String(),
  region: Nullable(Type.String()),
})

/** SQL: a member of the check that a finding is of. They are no columns: a check says them of all that it finds. */
const ofCheck = (member: 'title' | 'category' | 'severity'): string => {
  const values = Object.fromEntries(CHECKS.map(check => [check.name, check[member]]))
  return `'${JSON.stringify(values).replaceAll("'", "''")}'::jsonb ->> $.check_name`
}

/** A row of findings with its resource `r`, and its check's own row `k`, which says when it last looked. */
export const Finding = noun(
  'Finding',
  {
    id: Id,
    check: Type.String({ description: 'The check that found it, one of `GET /findings/checks`.' }),
    title: Type.String(),
    category: Category,
    severity: Severity,
    status: Type.Enum([...STATUSES], {
      description: '`closed`: it is no longer so, or the resource is another tenant’s by now.',
    }),
    resource: Nullable(FoundResource),
    subject: Type.String({
      description:
        'What it is about, unique within the check: the resource’s id, or a kind, or a line’s key.',
    }),
    tenant_id: Nullable(Type.String()),
    deployment_id: Nullable(Id),
    since: Type.String({ ...Time, description: 'When it began, as well as is known.' }),
    opened_at: Type.String({ ...Time, description: 'When it was found first.' }),
    last_found_at: Type.String({ ...Time, description: 'When the check last looked and found it.' }),
    closed_at: Nullable(Time),
    monthly_cost: Type.String({ description: 'What it costs a month, as a decimal.', examples: ['10.00'] }),
    monthly_cost_minor: Type.Integer({ description: 'The same in minor units.' }),
    currency: Type.String(),
    cost_source: Nullable(
      Type.Enum([...COST_SOURCES], {
        description: 'What the cost is taken from; null: nothing is known, and the cost is 0.',
      }),
    ),
    evidence: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What was seen that makes it so. The members depend on the check.',
    }),
    snoozed_until: Nullable(Time),
    snooze_reason: Nullable(Type.String()),
    snoozed_by: Nullable(Type.String()),
  },
  {
    check: '$.check_name',
    title: ofCheck('title'),
    category: ofCheck('category'),
    severity: ofCheck('severity'),
    status: null,
    resource: `case when r.id is not null then ${jsonOf(FoundResource, 'r')} end`,
    last_found_at: 'iso8601(coalesce($.last_found_at, k.found_at, $.opened_at))',
    monthly_cost: '$.monthly_cost::text',
  },
)

export const FindingCheck = noun(
  'FindingCheck',
  {
    name: Type.String(),
    title: Type.String(),
    description: Type.String({ description: 'What it means, and what to do about it.' }),
    category: Category,
    severity: Severity,
    for_tenants: Type.Boolean({ description: 'Whether tenants are shown what is found of theirs.' }),
    policy: Nullable(
      Type.Object(
        { name: Type.String(), value: Type.Integer() },
        { description: 'The number of the configuration that it follows; null: none.' },
      ),
    ),
    found_at: Nullable(Type.String({ ...Time, description: 'When it last ran; null: not yet.' })),
    error: Nullable(Type.String({ description: 'Why its last run failed; null: it did not.' })),
  },
  {},
)

const CheckSummary = noun('FindingCheckSummary', {
  check: Type.String(),
  title: Type.String(),
  category: Category,
  severity: Severity,
  open: Whole(),
  snoozed: Whole(),
  monthly_cost_minor: Type.Integer({ description: 'Of what is open.' }),
})

export const FindingSummary = noun('FindingSummary', {
  totals: Type.Object({
    open: Whole(),
    snoozed: Whole(),
    monthly_cost_minor: Type.Integer({
      description: 'Of what is open. A resource that several checks name counts once, with the largest cost.',
    }),
    currency: Type.String({ description: 'Of all sums here; amounts in another are not added up.' }),
  }),
  checks: Type.Array(CheckSummary, {
    description: 'All that the caller is shown, those that found nothing too.',
  }),
})

export type FindingRow = Row<'findings'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    findings: {
      evidence: ColumnType<Record<string, unknown>, string, string>
      cost_source: (typeof COST_SOURCES)[number] | null
    }
  }
}

/** What of a check narrows a list. */
export interface CheckFilter {
  check?: string
  category?: Check['category']
  severity?: Check['severity']
}

/** The checks whose findings are asked for: a tenant is shown those for tenants. */
export const checksFor = (
  scope: Scope,
  { check, category, severity }: CheckFilter = {},
  checks: readonly Check[] = CHECKS,
): Check[] =>
  checks.filter(
    one =>
      (scope.allTenants || one.forTenants) &&
      (check === undefined || one.name === check) &&
      (category === undefined || one.category === category) &&
      (severity === undefined || one.severity === severity),
  )

export const checkJson = (
  { name, title, description, category, severity, forTenants, policy }: Check,
  values: Policy,
  ran: { found_at: string | null; error: string | null } | undefined,
) => ({
  ...{ name, title, description, category, severity, for_tenants: forTenants },
  policy: policy === undefined ? null : { name: policy, value: values[policy] },
  found_at: ran?.found_at ?? null,
  error: ran?.error ?? null,
})

const YEAR_MS = 366 * 86_400_000

/** Why a finding cannot be snoozed until then; null when it can. */
export function refusedUntil(until: string, now: Date): string | null {
  const length = Date.parse(until) - now.getTime()
  if (!(length > 0)) return 'must be in the future'
  return length > YEAR_MS ? 'must be within a year' : null
}
