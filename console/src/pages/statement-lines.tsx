// The lines of a statement: what is charged, for which part of the month, how much of it at what price.
import type { Schemas } from '../api.ts'
import { Missing, moneyOfMinor, Table } from '../ui/index.ts'

export type Line = Schemas['StatementLine']

const KINDS = {
  base: 'Base price',
  addon: 'Addon',
  included: 'Included',
  overage: 'Beyond',
  meter: 'Meter',
} satisfies Record<Line['kind'], string>

export const nameOf = ({ kind, code }: Pick<Line, 'kind' | 'code'>): string =>
  `${KINDS[kind]}: ${code.replaceAll('_', ' ')}`

/** Months are UTC's, and so are their parts: midnight needs no time. */
export const utc = (at: string): string =>
  at.endsWith('T00:00:00.000Z') ? at.slice(0, 10) : at.slice(0, 16).replace('T', ' ')

const grouped = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 })

/** An exact decimal of the API with the language's own separators. */
export const decimal = (value: string): string => grouped.format(value as unknown as number)

/** `1000000 token` is so many of the unit at a time. */
export const unitOf = (unit: string): string => unit.replace(/^\d+/, count => decimal(count))

interface Props {
  label: string
  lines: Line[]
  currency: string
}

export const StatementLines = ({ label, lines, currency }: Props) => (
  <Table
    label={label}
    list={{ rows: lines }}
    id={line => JSON.stringify(line)}
    empty="It has no lines: nothing was agreed on or used."
    columns={[
      { name: 'What', cell: nameOf },
      { name: 'From (UTC)', cell: ({ from }) => utc(from) },
      { name: 'To (UTC)', cell: ({ to }) => utc(to) },
      {
        name: 'Quantity',
        number: true,
        cell: ({ quantity, unit }) =>
          quantity === null ? <Missing /> : `${decimal(quantity)} × ${unit ? unitOf(unit) : ''}`,
      },
      {
        name: 'Price of one',
        number: true,
        cell: ({ price_cents }) => (price_cents === null ? <Missing /> : moneyOfMinor(price_cents, currency)),
      },
      {
        name: 'Amount',
        number: true,
        cell: ({ amount_cents }) => moneyOfMinor(amount_cents, currency),
      },
    ]}
  />
)
