// Amounts in minor units, such as cents, as people read and type them.
import { money } from './text.tsx'

const digitsOf = (currency: string): number => {
  try {
    return (
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
      2
    )
  } catch {
    return 2
  }
}

/** Minor units (cents) as people read them; and as they type them. */
export const moneyOfMinor = (minor: number, currency: string): string =>
  money(decimalOfMinor(minor, currency), currency)

export const decimalOfMinor = (minor: number, currency: string): string =>
  (minor / 10 ** digitsOf(currency)).toFixed(digitsOf(currency))

/** What was typed, in minor units; undefined when it is no amount of the currency. */
export function minorOf(typed: string, currency: string): number | undefined {
  const [, whole, part = ''] = /^(\d+)(?:\.(\d+))?$/.exec(typed) ?? []
  const digits = digitsOf(currency)
  return whole === undefined || part.length > digits ? undefined : Number(whole + part.padEnd(digits, '0'))
}
