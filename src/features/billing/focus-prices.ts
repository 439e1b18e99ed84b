// What a charge is a unit of and what that costs by list: FOCUS's columns about SKUs and prices. A droplet's are those of its
// size; of anything else the provider lists no price that could be looked up, and it is one unit of what was billed.
import type { CostLineRow } from './cost-line.ts'

/** A droplet size with its list price of the month. Prices are exact decimals. */
export interface ListedSize {
  slug: string
  vcpus: number
  memory_mb: number
  disk_gb: number
  price_hourly: string
  price_monthly: string
  currency: string
}

export interface ListPrice {
  sku: string
  /** One for each unit that the SKU is priced by. */
  skuPrice: string
  details: string | null
  quantity: string
  unit: 'Hours' | 'Months' | 'Units'
  unitPrice: string
  /** Exactly the product of the two. */
  cost: string
}

type PricedLine = Pick<CostLineRow, 'kind' | 'description' | 'hours' | 'amount' | 'currency'>

export function listPriceOf(line: PricedLine, sizes: ReadonlyMap<string, ListedSize>): ListPrice {
  const slug = sizeNamed(line.description)
  const isDroplet = line.kind === 'droplet'
  const size = isDroplet && slug !== null ? sizes.get(slug) : undefined
  if (size && size.currency === line.currency && line.hours !== null && !isNegative(line.amount))
    return priceOfSize(size, line.hours)
  const sku = slug === null ? line.kind : isDroplet ? slug : `${line.kind}/${slug}`
  // A price is never negative: what is given back is a unit less.
  const [quantity, unitPrice] = isNegative(line.amount) ? ['-1', line.amount.slice(1)] : ['1', line.amount]
  const details = null
  return { sku, skuPrice: `${sku}/unit`, details, quantity, unit: 'Units', unitPrice, cost: line.amount }
}

/** By the hour, and at most its monthly price a month. */
function priceOfSize(size: ListedSize, hours: string): ListPrice {
  const byTheHour = times(size.price_hourly, hours)
  const isMonth = isAtLeast(byTheHour, size.price_monthly)
  return {
    sku: size.slug,
    skuPrice: `${size.slug}/${isMonth ? 'month' : 'hour'}`,
    details: detailsOf(size),
    ...(isMonth
      ? { quantity: '1', unit: 'Months', unitPrice: size.price_monthly, cost: size.price_monthly }
      : { quantity: hours, unit: 'Hours', unitPrice: size.price_hourly, cost: byTheHour }),
  }
}

const MB_OF_A_GB = 1024

/** Names and units are the specification's. */
const detailsOf = ({ slug, vcpus, memory_mb, disk_gb }: ListedSize): string =>
  JSON.stringify({
    InstanceType: slug,
    CoreCount: vcpus,
    MemorySize: memory_mb / MB_OF_A_GB,
    DiskSpace: disk_gb,
  })

const SIZE = /\(([a-z0-9]{1,32}(?:-[a-z0-9.]{1,32}){1,8})\)$/

/** `web-01 (s-1vcpu-1gb)` → `s-1vcpu-1gb`. */
const sizeNamed = (description: string): string | null => SIZE.exec(description)?.[1] ?? null

const isNegative = (decimal: string) => decimal.startsWith('-')

/** A decimal as a whole number of its last digit's unit, and how many digits it has behind the point. */
function scaled(decimal: string): [whole: bigint, digits: number] {
  const [whole = '', fraction = ''] = decimal.split('.')
  return [BigInt(whole + fraction), fraction.length]
}

/** Of decimals that are not negative. */
function times(a: string, b: string): string {
  const [[x, xDigits], [y, yDigits]] = [scaled(a), scaled(b)]
  const digits = xDigits + yDigits
  const text = String(x * y).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

function isAtLeast(a: string, b: string): boolean {
  const [[x, xDigits], [y, yDigits]] = [scaled(a), scaled(b)]
  return x * 10n ** BigInt(yDigits) >= y * 10n ** BigInt(xDigits)
}
