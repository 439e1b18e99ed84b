// Costs over time: what the invoices' lines add up to in each month, by any of a few dimensions. What the rows look like,
// and which question a query asks. The database adds (cost-store.ts).
import { type Static, Type } from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { ExternalId, Id, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { monthOf } from '../../kernel/time.ts'
import { sums } from './summary.ts'

/** By what costs are grouped, and the column of a line that says it. */
export const DIMENSIONS = {
  tenant: 'tenant_id',
  deployment: 'deployment_id',
  kind: 'kind',
  project: 'project_name',
} as const
export type Dimension = keyof typeof DIMENSIONS
const NAMES = Object.keys(DIMENSIONS) as Dimension[]

const nobodys = 'Null: of what belongs to none, or of `others`.'
export const Cost = noun(
  'Cost',
  {
    period: Type.String({ format: 'date', description: 'The first day of the month.' }),
    tenant_id: Type.Optional(
      Nullable(Type.String({ description: `With \`group_by=tenant\`, as the other dimensions. ${nobodys}` })),
    ),
    deployment_id: Type.Optional(Nullable(Type.String({ ...Id, description: nobodys }))),
    kind: Type.Optional(Nullable(Type.String({ description: 'Null: of `others`.' }))),
    project_name: Type.Optional(Nullable(Type.String({ description: nobodys }))),
    others: Type.Optional(
      Type.Boolean({ description: 'With `top`: whether the row adds up all that the largest leave over.' }),
    ),
    currency: Type.String({ description: 'ISO 4217; each currency has rows of its own.' }),
    ...sums,
  },
  { amount: '$.amount::text', net_minor: '$.amount_minor - $.tax_minor' },
)

const MOST_MONTHS = 120
const MONTHS_UNLESS_SAID = 12
const MOST_TOP = 50

export const COST_FILTERS = {
  from: Type.Optional(
    Type.String({
      format: 'date',
      description: `Any day of the first month. Default: of ${MONTHS_UNLESS_SAID} months.`,
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date',
      description: `Any day of the last month, at most ${MOST_MONTHS} months in all. Default: the current one.`,
    }),
  ),
  granularity: Type.Enum(['month'], { default: 'month', description: 'How long a period is.' }),
  group_by: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `One or several of ${NAMES.map(name => `\`${name}\``).join(', ')}, separated by commas. Default: none, the whole month.`,
      examples: ['tenant', 'tenant,kind'],
    }),
  ),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_TOP,
      description:
        'Only so many groups, those with the largest amounts from the first month to the last, and what is nobody’s; the rest of each month is one row, `others`.',
    }),
  ),
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Id),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
}

export interface CostQuery {
  from?: string
  to?: string
  group_by?: string
  top?: number
  tenant_id?: string
  deployment_id?: string
  kind?: string
}

/** First days of months, both included. */
export interface CostQuestion extends Pick<CostQuery, 'top' | 'tenant_id' | 'deployment_id' | 'kind'> {
  from: string
  to: string
  dimensions: Dimension[]
}

/** What the query asks for at this time. */
export function costQuestion({ from, to, group_by, ...rest }: CostQuery, now: Date): CostQuestion {
  const last = monthOf(to ?? now).first_day
  const first = from === undefined ? addMonths(last, 1 - MONTHS_UNLESS_SAID) : monthOf(from).first_day
  const dimensions = group_by === undefined ? [] : dimensionsOf(group_by)
  if (first > last) throw refused('?from', 'must not be after to')
  if (addMonths(first, MOST_MONTHS) <= last)
    throw refused('?from', `must be at most ${MOST_MONTHS} months before to`)
  if (rest.top !== undefined && dimensions.length === 0) throw refused('?top', 'is for a group_by')
  return { from: first, to: last, dimensions, ...rest }
}

/** The question of each month by itself. */
export function* monthly(question: CostQuestion): Generator<CostQuestion> {
  for (let month = question.from; month <= question.to; month = addMonths(month, 1))
    yield { ...question, from: month, to: month }
}

/** As the API names and orders them. */
export function costColumns({ dimensions, top }: CostQuestion): (keyof Static<typeof Cost>)[] {
  const grouped = new Set<string>(dimensions.map(name => DIMENSIONS[name]))
  const optional = new Set<string>([...Object.values(DIMENSIONS), 'others'])
  const isShown = (column: string) =>
    !optional.has(column) || grouped.has(column) || (column === 'others' && top !== undefined)
  return (Object.keys(Cost.properties) as (keyof Static<typeof Cost>)[]).filter(isShown)
}

function dimensionsOf(groupBy: string): Dimension[] {
  const asked = groupBy.split(',')
  const unknown = asked.find(name => !Object.hasOwn(DIMENSIONS, name))
  if (unknown !== undefined) throw refused('?group_by', `must be of ${NAMES.join(', ')}, with commas between`)
  if (new Set(asked).size < asked.length) throw refused('?group_by', 'must not name a dimension twice')
  return asked as Dimension[]
}

/** `2026-01-01`, -1 → `2025-12-01` */
function addMonths(firstDay: string, months: number): string {
  const date = new Date(`${firstDay}T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + months)
  return date.toISOString().slice(0, 10)
}

const refused = (pointer: string, message: string) =>
  invalid('The query is not acceptable.', [{ pointer, message }])
