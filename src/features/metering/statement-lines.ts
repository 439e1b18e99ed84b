// The lines of a month's statement: base and addons, then of each kind what is included and, at each of its prices, what went
// beyond, and the same of each meter. Their amounts add up to what usage shows. Pure.
import type { StatementLine } from '../subscriptions/index.ts'
import { chargeable, decimal, hoursOf, PLACES, quantityIn } from './charge.ts'
import { meterStatementLines } from './meter-usage.ts'
import { dealt, fixedCharges, type Held, sum } from './proration.ts'
import { inOnePiece } from './slice-terms.ts'
import { kindsOf, metersOf, type UsageFacts, usesOf } from './usage.ts'

/** With what may still come of a month that is not over, where the facts carry it on. */
export function statementLines(facts: UsageFacts): StatementLine[] {
  const foreseen = facts.living !== null
  return [
    ...fixedLines(facts),
    ...kindsOf(facts).flatMap(kind => kindLines(facts, kind)),
    ...metersOf(facts).flatMap(meter => meterStatementLines(meter, foreseen)),
  ]
}

export const totalOf = (lines: readonly StatementLine[]): bigint =>
  sum(lines.map(({ amount_cents }) => amount_cents))

function fixedLines({ terms, month }: UsageFacts): StatementLine[] {
  const { base, addons } = fixedCharges(terms, month)
  const months = ({ seconds }: Held, quantity = 1) =>
    decimal(seconds * BigInt(quantity), month.seconds, PLACES)
  return [
    ...base.map(line => ({
      kind: 'base' as const,
      code: line.plan_code,
      subject_id: line.plan_version_id,
      from: line.from,
      to: line.to,
      quantity: months(line),
      unit: 'month',
      price_cents: line.price_cents,
      price_source: 'plan',
      amount_cents: line.amount_cents,
    })),
    ...addons.map(line => ({
      kind: 'addon' as const,
      code: line.code,
      subject_id: line.id,
      from: line.from,
      to: line.to,
      quantity: months(line, line.quantity),
      unit: 'month',
      price_cents: line.price_cents,
      price_source: 'addon',
      amount_cents: line.amount_cents,
    })),
  ]
}

function kindLines(facts: UsageFacts, kind: string): StatementLine[] {
  const { month } = facts
  const slices = inOnePiece(usesOf(facts, kind), (a, b) => ({
    used: a.used + b.used,
    over: a.over + b.over,
    ahead: a.ahead + b.ahead,
  }))
  const within = sum(slices.map(({ used, over }) => used - over))
  const beyond = slices.filter(({ over, ahead }) => over + ahead > 0n)
  // Rounded once for the kind, as usage shows it.
  const amounts = dealt(
    beyond.map(({ rate, over, ahead }) => chargeable(rate, over + ahead, month.seconds)),
    month.seconds,
  )
  const nothing = { subject_id: null, price_cents: null, price_source: null, amount_cents: 0n }
  const included: StatementLine[] =
    within > 0n
      ? [
          {
            kind: 'included',
            code: kind,
            from: month.start_at,
            to: month.end_at,
            quantity: hoursOf(within),
            unit: 'hour',
            ...nothing,
          },
        ]
      : []
  const overage = beyond.map(({ rate, from_at, to_at, over, ahead }, index) => ({
    kind: 'overage' as const,
    code: kind,
    subject_id: null,
    from: from_at,
    to: to_at,
    quantity: rate === null ? hoursOf(over + ahead) : quantityIn(rate.unit, over + ahead, month.seconds),
    unit: rate?.unit ?? 'hour',
    price_cents: rate?.price_cents ?? null,
    price_source: rate?.source ?? null,
    amount_cents: amounts[index]!,
  }))
  return [...included, ...overage]
}
