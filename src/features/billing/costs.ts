// Costs over time: what the lines of invoices and of estimates add up to in each month or day, by any of a few dimensions. What
// the rows look like, and which question a query asks. The database adds (cost-store.ts).
import { type Static, Type } from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { ExternalId, Id, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { firstDayAfter, monthOf } from '../../kernel/time.ts'
import { sums } from './summary.ts'

/** By what costs are grouped, and the column that says it. */
export const DIMENSIONS = {
  tenant: 'tenant_id',
  deployment: 'deployment_id',
  kind: 'kind',
  project: 'project_name',
  tag: 'tag',
} as const
export type Dimension = keyof typeof DIMENSIONS
const NAMES = Object.keys(DIMENSIONS) as Dimension[]

const nobodys = 'Null: of what belongs to none, or of `others`.'
export const Cost = noun(
  'Cost',
  {
    period: Type.String({ format: 'date', description: 'The first day of the month, or the day.' }),
    tenant_id: Type.Optional(
      Nullable(Type.String({ description: `With \`group_by=tenant\`, as the other dimensions. ${nobodys}` })),
    ),
    deployment_id: Type.Optional(Nullable(Type.String({ ...Id, description: nobodys }))),
    kind: Type.Optional(Nullable(Type.String({ description: 'Null: of `others`.' }))),
    project_name: Type.Optional(Nullable(Type.String({ description: nobodys }))),
    tag: Type.Optional(
      Nullable(
        Type.String({
          description: `The resource’s tags at the time, in order with commas between, or with \`tag_key\` the values of that key. ${nobodys}`,
        }),
      ),
    ),
    others: Type.Optional(
      Type.Boolean({ description: 'With `top`: whether the row adds up all that the largest leave over.' }),
    ),
    estimate: Type.Boolean({
      description:
        'Whether the month has no invoice yet, and the row is of its estimate: what the provider said it had cost so far, by resources at their list prices.',
    }),
    currency: Type.String({ description: 'ISO 4217; each currency has rows of its own.' }),
    ...sums,
  },
  { amount: '$.amount::text', net_minor: '$.amount_minor - $.tax_minor' },
)

const GRANULARITIES = ['month', 'day'] as const
type Granularity = (typeof GRANULARITIES)[number]

const MOST_MONTHS = 120
const MONTHS_UNLESS_SAID = 12
const MOST_DAYS = 366
const DAYS_UNLESS_SAID = 31
const MOST_TOP = 50

export const COST_FILTERS = {
  from: Type.Optional(
    Type.String({
      format: 'date',
      description: `The first day, or any day of the first month. Default: of ${DAYS_UNLESS_SAID} days or ${MONTHS_UNLESS_SAID} months.`,
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date',
      description: `The last day, or any day of the last month; at most ${MOST_DAYS} days or ${MOST_MONTHS} months in all. Default: the current one.`,
    }),
  ),
  granularity: Type.Enum([...GRANULARITIES], {
    default: 'month',
    description:
      'How long a period is. By day each line is spread over the days it ran, by time, so that they add up to the line: within the month of its invoice, and over all of it where the line names no times.',
  }),
  group_by: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `One or several of ${NAMES.map(name => `\`${name}\``).join(', ')}, separated by commas. Default: none, the whole period. \`tag\`: a line counts once, under all tags of its resource together, without \`deployment:\` and \`saga:\`.`,
      examples: ['tenant', 'tenant,kind'],
    }),
  ),
  tag_key: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_.-]{1,128}$',
      description:
        'With `group_by=tag`: only tags `KEY:value` of this key count, by their values. A resource with several has them with commas between.',
      examples: ['env'],
    }),
  ),
  estimates: Type.Boolean({
    default: true,
    description: 'Whether months without an invoice are shown as their estimates say.',
  }),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_TOP,
      description:
        'Only so many groups, those with the largest amounts from the first period to the last, and what is nobody’s; the rest of each period is one row, `others`.',
    }),
  ),
  tenant_id: Type.Optional(ExternalId),
  deployment_id: Type.Optional(Id),
  kind: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
}

export interface CostQuery {
  from?: string
  to?: string
  granularity?: Granularity
  group_by?: string
  tag_key?: string
  estimates?: boolean
  top?: number
  tenant_id?: string
  deployment_id?: string
  kind?: string
}

/** First days of months, or days; both included. */
export interface CostQuestion
  extends Pick<CostQuery, 'tag_key' | 'top' | 'tenant_id' | 'deployment_id' | 'kind'> {
  from: string
  to: string
  granularity: Granularity
  dimensions: Dimension[]
  estimates: boolean
}

/** What the query asks for at this time. */
export function costQuestion(
  { from, to, group_by, granularity = 'month', estimates = true, ...rest }: CostQuery,
  now: Date,
): CostQuestion {
  const dimensions = group_by === undefined ? [] : dimensionsOf(group_by)
  if (rest.top !== undefined && dimensions.length === 0) throw refused('?top', 'is for a group_by')
  if (rest.tag_key !== undefined && !dimensions.includes('tag'))
    throw refused('?tag_key', 'is for a group_by of tag')
  const time = granularity === 'day' ? daysAsked(from, to, now) : monthsAsked(from, to, now)
  if (time.from > time.to) throw refused('?from', 'must not be after to')
  if (time.from < time.earliest) throw refused('?from', `must be at most ${time.most} before to`)
  return { from: time.from, to: time.to, granularity, dimensions, estimates, ...rest }
}

function monthsAsked(from: string | undefined, to: string | undefined, now: Date) {
  const last = monthOf(to ?? now).first_day
  return {
    from: from === undefined ? addMonths(last, 1 - MONTHS_UNLESS_SAID) : monthOf(from).first_day,
    to: last,
    earliest: addMonths(last, 1 - MOST_MONTHS),
    most: `${MOST_MONTHS} months`,
  }
}

function daysAsked(from: string | undefined, to: string | undefined, now: Date) {
  const last = to ?? now.toISOString().slice(0, 10)
  return {
    from: from ?? addDays(last, 1 - DAYS_UNLESS_SAID),
    to: last,
    earliest: addDays(last, 1 - MOST_DAYS),
    most: `${MOST_DAYS} days`,
  }
}

/** The question of each month by itself. */
export function* monthly(question: CostQuestion): Generator<CostQuestion> {
  for (let from = question.from; from <= question.to; from = firstDayAfter(from)) {
    const { first_day, last_day } = monthOf(from)
    const to = question.granularity === 'month' ? first_day : last_day
    yield { ...question, from, to: to < question.to ? to : question.to }
  }
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

/** `2026-03-01`, -1 → `2026-02-28` */
function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

const refused = (pointer: string, message: string) =>
  invalid('The query is not acceptable.', [{ pointer, message }])
