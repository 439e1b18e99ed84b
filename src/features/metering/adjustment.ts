// What a month comes to now beside what its statements have told: the lines of an adjusting statement are the differences, so
// that all statements together come to the month, line by line and in all. Pure.
import type { StatementLine } from '../subscriptions/index.ts'
import { decimal, PLACES } from './charge.ts'

/** What a line is about: two lines that agree in it are one, told twice. */
const subjectOf = ({ quantity: _, amount_cents: __, ...subject }: StatementLine): string =>
  JSON.stringify(Object.entries(subject).sort(([a], [b]) => (a < b ? -1 : 1)))

/** In the order of what the month comes to; behind it, taken back, what it no longer has. */
export function differences(now: readonly StatementLine[], told: readonly StatementLine[]): StatementLine[] {
  const lines = new Map<string, StatementLine>()
  for (const [line, sign] of [
    ...now.map(line => [line, 1n] as const),
    ...told.map(line => [line, -1n] as const),
  ]) {
    const key = subjectOf(line)
    const before = lines.get(key)
    lines.set(key, {
      ...line,
      quantity: plus(before?.quantity, line.quantity, sign),
      amount_cents: (before?.amount_cents ?? 0n) + sign * line.amount_cents,
    })
  }
  return [...lines.values()].filter(
    ({ quantity, amount_cents }) => amount_cents !== 0n || (quantity !== null && quantity !== '0'),
  )
}

const ONE = 10n ** BigInt(PLACES)

/** Null: the unit is not metered. */
function plus(before: string | null | undefined, quantity: string | null, sign: bigint): string | null {
  if (quantity === null) return null
  return decimal(millionths(before ?? '0') + sign * millionths(quantity), ONE, PLACES)
}

function millionths(quantity: string): bigint {
  const [whole = '', fraction = ''] = quantity.split('.')
  const size = BigInt(`${whole.replace('-', '')}${fraction.padEnd(PLACES, '0')}`)
  return quantity.startsWith('-') ? -size : size
}
