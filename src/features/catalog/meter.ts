// Meters: usage that is told by events. How one looks in the API, in a catalog file and in the table; and which units measure a
// kind, so that nothing is priced by what nobody counts.
import { type Static, Type } from 'typebox'
import { isKind } from '../../integrations/digitalocean/index.ts'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Body, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { Name, type PlanItem, Unit } from './plan.ts'

export const AGGREGATIONS = ['sum', 'max', 'last', 'unique'] as const
export type Aggregation = (typeof AGGREGATIONS)[number]

const HOW =
  'What a month comes to: the `sum` of its values, the largest (`max`), that of the latest `time` (`last`), or how many different ' +
  'ones there were (`unique`).'
const UNIT = 'What values count, such as `token`. It is the unit of prices for the meter.'
const SCALE =
  'So many units are one of what plans include and prices are for: with 1000000, `included_qty` 5 is 5,000,000 tokens and a price ' +
  'is for 1,000,000.'

const MOST_SCALE = 1_000_000_000_000

export const Meter = noun('Meter', {
  code: Type.String({
    description: 'The `type` of its events, and the `resource_kind` of plan items and prices.',
  }),
  name: Type.String(),
  aggregation: Type.Enum([...AGGREGATIONS], { description: HOW }),
  unit: Type.String({ description: UNIT }),
  scale: Type.Integer({ description: SCALE }),
  created_at: Time,
})
export type MeterRow = Row<'meters'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    meters: { aggregation: Aggregation }
  }
}

export const MeterCode = Type.String({
  maxLength: 63,
  pattern: '^[a-z][a-z0-9_]{0,62}$',
  description: 'The `type` of its events. Not a kind of the inventory.',
})

export const CreateMeter = Body(
  {
    code: MeterCode,
    name: Type.Optional(Type.String({ ...Name, description: 'Default: the code.' })),
    aggregation: Type.Enum([...AGGREGATIONS], { description: HOW }),
    unit: Type.String({ ...Unit, description: UNIT }),
    scale: Type.Integer({ minimum: 1, maximum: MOST_SCALE, default: 1, description: SCALE }),
  },
  { title: 'CreateMeter' },
)
export type NewMeter = Static<typeof CreateMeter>
export type MeterTerms = Required<NewMeter>

export const UpdateMeter = Body({ name: Type.Optional(Name) }, { title: 'UpdateMeter' })

/** What the inventory sees is metered by its life already. */
export const meterErrors = ({ code }: Pick<MeterTerms, 'code'>, at: string): FieldError[] =>
  isKind(code)
    ? [{ pointer: `${at}/code`, message: `${code} is a kind of the inventory, which is metered by the hour` }]
    : []

/** How long a resource lives for one unit of a price; shortest first. */
export const TIME_UNITS = ['hour', 'day', 'month'] as const

/** What measures: meters by their code. */
export type Meters = readonly Pick<MeterTerms, 'code' | 'unit'>[]

/** The units that a kind is measured by: a meter's own, and of everything else how long it lives. */
export const unitsOf = (kind: string, meters: Meters): readonly string[] => {
  const meter = meters.find(({ code }) => code === kind)
  return meter ? [meter.unit] : TIME_UNITS
}

/** Undefined: the kind is measured by the unit. */
export function unmeasured(kind: string, unit: string, meters: Meters): string | undefined {
  const units = unitsOf(kind, meters)
  if (units.includes(unit)) return undefined
  return `nothing measures ${kind} by ${unit}: it is measured by ${units.join(', ')}`
}

/** `at` is where the list of items stands in the document. */
export const unitErrors = (items: readonly PlanItem[], meters: Meters, at: string): FieldError[] =>
  items.flatMap(({ resource_kind, overage_unit }, index) => {
    const message = overage_unit === null ? undefined : unmeasured(resource_kind, overage_unit, meters)
    return message === undefined ? [] : [{ pointer: `${at}/${index}/overage_unit`, message }]
  })
