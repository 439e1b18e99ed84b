// What is left of a charge when the provider has been paid. Pure. Amounts in different currencies have no difference.
import { decimal } from './decimal.ts'

export interface Money {
  currency: string
  /** In minor units. */
  amount_minor: bigint
}

export interface Margin {
  currency: string | null
  margin_minor: bigint | null
  margin_percent: string | null
}

const PLACES = 2

/** Nothing has no currency: an amount of 0 keeps nobody from comparing the others. */
export function marginOf(charged: readonly Money[], costs: readonly Money[]): Margin {
  const all = [...charged, ...costs]
  const some = all.filter(({ amount_minor }) => amount_minor !== 0n)
  const currencies = new Set((some.length > 0 ? some : all.slice(0, 1)).map(({ currency }) => currency))
  const [currency] = currencies
  if (currencies.size !== 1) return { currency: null, margin_minor: null, margin_percent: null }
  const income = total(charged)
  const margin_minor = income - total(costs)
  const margin_percent = income > 0n ? decimal(margin_minor * 100n, income, PLACES) : null
  return { currency: currency!, margin_minor, margin_percent }
}

const total = (money: readonly Money[]): bigint =>
  money.reduce((sum, { amount_minor }) => sum + amount_minor, 0n)

/** Each currency by itself, in the order of their names. */
export function byCurrency(money: readonly Money[]): Money[] {
  const currencies = [...new Set(money.map(({ currency }) => currency))].sort()
  return currencies.map(currency => ({
    currency,
    amount_minor: total(money.filter(other => other.currency === currency)),
  }))
}
