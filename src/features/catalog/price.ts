// What is sold beside plans: addons, which a subscription takes by the piece, and the resource prices of what no plan
// covers. How both look in the API, in a catalog file and in the tables, and the days on which a price holds.
import { type Static, Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { Cents, Code, Currency, Name, Quantity, ResourceKind, Unit } from './plan.ts'

export const Addon = noun('Addon', {
  id: Id,
  code: Type.String(),
  name: Type.String(),
  resource_kind: Type.String(),
  qty: Type.Integer({
    description: 'How much of the kind one addon adds; of a meter in steps of its scale.',
  }),
  price_cents: Type.Integer(),
  currency: Type.String(),
  created_at: Time,
  updated_at: Time,
})
export type AddonRow = Row<'addons'>

const AddonQuantity = Type.Integer({ ...Quantity, minimum: 1 })

export const CreateAddon = Body(
  {
    code: Code,
    name: Type.Optional(Type.String({ ...Name, description: 'Default: the code.' })),
    resource_kind: ResourceKind,
    qty: AddonQuantity,
    price_cents: Cents,
    currency: Type.String({ ...Currency, default: 'USD' }),
  },
  { title: 'CreateAddon' },
)
export type NewAddon = Static<typeof CreateAddon>

export const UpdateAddon = Body(
  {
    name: Type.Optional(Name),
    resource_kind: Type.Optional(ResourceKind),
    qty: Type.Optional(AddonQuantity),
    price_cents: Type.Optional(Cents),
    currency: Type.Optional(Currency),
  },
  { title: 'UpdateAddon' },
)
export type AddonUpdate = Static<typeof UpdateAddon>

export const ResourcePrice = noun('ResourcePrice', {
  id: Id,
  resource_kind: Type.String(),
  unit: Type.String(),
  price_cents: Type.Integer({ description: 'For one unit; of a meter for one step of its scale.' }),
  currency: Type.String(),
  effective_from: Type.String({ format: 'date', description: 'The first day it holds.' }),
  effective_to: Nullable(
    Type.String({
      format: 'date',
      description: 'The first day it no longer holds; null: until further notice.',
    }),
  ),
  created_at: Time,
})
export type ResourcePriceRow = Row<'resource_prices'>

export const Day = Type.String({ format: 'date', pattern: '^[12]\\d{3}-', description: 'YYYY-MM-DD.' })

export const CreateResourcePrice = Body(
  {
    resource_kind: ResourceKind,
    unit: Unit,
    price_cents: Cents,
    currency: Currency,
    effective_from: Day,
    effective_to: Type.Unsafe<string | null>({ ...Nullable(Day), default: null }),
  },
  { title: 'CreateResourcePrice' },
)
export type PriceTerms = Static<typeof CreateResourcePrice>

export const EndResourcePrice = Body(
  { effective_to: Type.Optional(Nullable(Day)) },
  { title: 'EndResourcePrice' },
)

/** The days from the first to the one before `effective_to`. */
export type Period = Pick<PriceTerms, 'effective_from' | 'effective_to'>

export function periodErrors({ effective_from, effective_to }: Period, at: string): FieldError[] {
  if (effective_to === null || effective_to > effective_from) return []
  return [{ pointer: `${at}/effective_to`, message: `must be after effective_from (${effective_from})` }]
}

/** Dates are compared as text: `YYYY-MM-DD` sorts as the days do. */
export const overlap = (a: Period, b: Period): boolean =>
  (b.effective_to === null || a.effective_from < b.effective_to) &&
  (a.effective_to === null || b.effective_from < a.effective_to)

/** What a price is for: two prices of one subject cannot hold on one day. */
export type PriceSubject = Pick<PriceTerms, 'resource_kind' | 'unit' | 'currency'>

export const subjectOf = ({ resource_kind, unit, currency }: PriceSubject): string =>
  `${resource_kind}/${unit} ${currency}`

/** One price, among all there are and were. */
export type PriceKey = PriceSubject & Pick<PriceTerms, 'effective_from'>
