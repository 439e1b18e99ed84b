// What is left of a charge when the provider has been paid. Pure. Amounts in different currencies have no difference.
import { decimal } from './decimal.ts'

export interface Money {
  currency: string
  /** In minor units. */
  amount_minor: bigint
}

export interface Margin extends Money {
  /** Of what is charged; null where nothing is. */
  percent: string | null
}

const PLACES = 2

/** Null: there is more than one currency. An amount of 0 is in none, and keeps nobody from comparing the others. */
export function marginOf(charged: readonly Money[], costs: readonly Money[]): Margin | null {
  const all = [...charged, ...costs]
  const some = all.filter(({ amount_minor }) => amount_minor !== 0n)
  const currencies = new Set((some.length > 0 ? some : all.slice(0, 1)).map(({ currency }) => currency))
  const [currency] = currencies
  if (currency === undefined || currencies.size > 1) return null
  const income = total(charged)
  const amount_minor = income - total(costs)
  return {
    currency,
    amount_minor,
    percent: income > 0n ? decimal(amount_minor * 100n, income, PLACES) : null,
  }
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
