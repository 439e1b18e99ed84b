// The provider's droplet sizes with their list prices.
import { ProviderError } from './errors.ts'
import { collect, type ListingParts, type ListingVerdict, type ListOptions, openListing } from './listing.ts'
import { malformed, type RawItem, textAt } from './responses.ts'

/** Prices and the transfer are exact decimals as text. */
export interface Size {
  slug: string
  description: string | null
  vcpus: number
  memory_mb: number
  disk_gb: number
  transfer_tb: string
  price_monthly: string
  price_hourly: string
  regions: string[]
  available: boolean
}

export interface Sizes {
  /** `odd`: why one or more of the listed sizes are left out; null when all are here. */
  sizes(options?: ListOptions): Promise<ListingVerdict & { items: Size[]; odd: string | null }>
}

export function createSizes(parts: ListingParts): Sizes {
  return {
    async sizes({ signal, onPage } = {}) {
      const source = { path: '/v2/sizes', key: 'sizes', idField: 'slug', paged: true }
      const { items, ...verdict } = await collect(openListing(parts, [source], signal), onPage)
      const sizes: Size[] = []
      let odd: string | null = null
      for (const item of items) {
        try {
          sizes.push(sizeOf(item))
        } catch (error) {
          // One that cannot be read keeps none of the others from being known.
          if (!(error instanceof ProviderError)) throw error
          odd ??= error.message
        }
      }
      return { items: sizes, odd, ...verdict }
    },
  }
}

const LONGEST_TEXT = 255
const SLUG = /^[\x21-\x7e]{1,100}$/

function sizeOf(item: RawItem): Size {
  const slug = textAt(item, 'slug')
  if (!SLUG.test(slug)) throw malformed('a size has a slug that cannot be used')
  const { description, regions, available } = item
  const isText = (value: unknown): value is string => typeof value === 'string' && SLUG.test(value)
  return {
    slug,
    description: typeof description === 'string' && isPlain(description) ? description : null,
    vcpus: countAt(item, 'vcpus', slug),
    memory_mb: countAt(item, 'memory', slug),
    disk_gb: countAt(item, 'disk', slug),
    transfer_tb: numberAt(item, 'transfer', slug),
    price_monthly: numberAt(item, 'price_monthly', slug),
    price_hourly: numberAt(item, 'price_hourly', slug),
    regions: (Array.isArray(regions) ? regions : []).filter(isText).sort(),
    available: available === true,
  }
}

const isPlain = (text: string) => text.length <= LONGEST_TEXT && text.isWellFormed() && !/\p{Cc}/u.test(text)

const LARGEST_COUNT = 2_000_000_000
const LARGEST_NUMBER = 1_000_000_000

function countAt(item: RawItem, key: string, slug: string): number {
  const value = item[key]
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > LARGEST_COUNT)
    throw malformed(`size ${slug} has no usable ${key}`)
  return value as number
}

function numberAt(item: RawItem, key: string, slug: string): string {
  const value = item[key]
  if (typeof value !== 'number' || !(value >= 0 && value <= LARGEST_NUMBER))
    throw malformed(`size ${slug} has no usable ${key}`)
  return decimalOf(value)
}

/** As many digits as a number of 32 bits needs at most. */
const DIGITS_OF_32_BITS = 9
/** As many as every number of 64 bits keeps. */
const DIGITS_OF_64_BITS = 15

/**
 * The provider's prices are JSON numbers, and some have been through 32 bits on their way: 0.00744 comes as
 * 0.00743999984115362. Such a number is the shortest decimal that has the same 32 bits; any other is what it says.
 */
export function decimalOf(value: number): string {
  const narrow = Math.fround(value)
  const isNarrow = narrow.toPrecision(DIGITS_OF_64_BITS) === value.toPrecision(DIGITS_OF_64_BITS)
  if (!isNarrow) return plain(value)
  for (let digits = 1; digits <= DIGITS_OF_32_BITS; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === narrow) return plain(shorter)
  }
  return plain(value)
}

/** Without an exponent. */
function plain(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(18).replace(/\.?0+$/, '') : text
}
