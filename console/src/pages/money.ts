// What the pages about money have in common.
import { filter } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'

/** Operators read /billing; a tenant reads its own under /costs. */
export const wholePlatform = () => seesAllTenants() && may('listCosts')

/** A month of the address (`2026-10`) as the API takes it. */
export const monthFilter = (name: string): string | undefined => {
  const month = filter(name)
  return month && (/^\d{4}-\d\d(-\d\d)?$/.test(month) ? `${month.slice(0, 7)}-01` : month)
}

/** A day of the address as it is; a whole month (`2026-10`) stands for its first or, up to then, its last day. */
export const dayFilter = (name: 'from' | 'to'): string | undefined => {
  const day = filter(name)
  if (!day || !/^\d{4}-\d\d$/.test(day)) return day
  const end = new Date(`${day}-01T00:00:00Z`)
  end.setUTCMonth(end.getUTCMonth() + 1, 0)
  return name === 'from' ? `${day}-01` : end.toISOString().slice(0, 10)
}

/** The last month that is over: of it there can be an invoice. */
export function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 10)
}

/** Two exact decimals of the API, subtracted exactly. */
export function difference(left: string, right: string): string {
  const fraction = (decimal: string) => decimal.split('.')[1] ?? ''
  const places = Math.max(fraction(left).length, fraction(right).length)
  const scaled = (decimal: string) =>
    BigInt(decimal.replace('.', '') + '0'.repeat(places - fraction(decimal).length))
  const result = scaled(left) - scaled(right)
  const digits = String(result < 0n ? -result : result).padStart(places + 1, '0')
  const [whole, rest] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)]
  return `${result < 0n ? '−' : ''}${whole}${rest && `.${rest}`}`
}
