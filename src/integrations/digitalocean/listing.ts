// Reads a listing from the provider page by page, one after the other, and says whether it was whole.
// A kind may be spread over several endpoints: it is whole only when each of them was.
import type { Timer } from '../../kernel/retry.ts'
import type { ProviderClient } from './client.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'
import type { Limits } from './limits.ts'
import { type Page, type RawItem, readPage } from './responses.ts'

export interface Source {
  path: string
  query?: Readonly<Record<string, string>>
  /** The key of the array in the response. */
  key: string
  idField: string
  /** False where the endpoint declares no paging: one response is everything, and carries no total. */
  paged: boolean
  /** An endpoint not every account is offered: its plain 404 means there is nothing to list. */
  mayBeAbsent?: boolean
}

export interface ListOptions {
  signal?: AbortSignal
  counted?: () => void
  onPage?: (page: ListingPage) => void | Promise<void>
}

export interface ListingPage {
  /** No item comes twice in one listing. */
  items: RawItem[]
  /** The provider's count for the endpoint being read. */
  total: number | null
}

export interface Listing extends ListingVerdict {
  items: RawItem[]
}

/** Iterate once; `verdict` is final after the loop ran to its end, and incomplete until then. */
export interface PagedListing extends AsyncIterable<ListingPage> {
  readonly verdict: ListingVerdict
  /** The status that the provider refused a page with; null when it refused none. */
  readonly refusal?: number | null
}

export interface ListingParts {
  client: ProviderClient
  timer: Timer
  limits: Pick<Limits, 'perPage' | 'maxPages' | 'listingDeadlineMs'>
}

export function openListing(
  parts: ListingParts,
  sources: readonly Source[],
  { signal, counted }: Pick<ListOptions, 'signal' | 'counted'> = {},
): PagedListing {
  const { client, timer, limits } = parts
  const state: { verdict: ListingVerdict; refusal: number | null } = {
    verdict: joined([], sources.length, 0),
    refusal: null,
  }

  async function* read(): AsyncGenerator<ListingPage> {
    const deadlineAt = timer.now() + limits.listingDeadlineMs
    const everything = createDistinctIds()
    const finished: { source: Source; verdict: ListingVerdict }[] = []
    for (const source of sources) {
      const tally = createTally({ paged: source.paged, maxPages: limits.maxPages })
      const ofSource = sources.length > 1 ? createDistinctIds() : everything
      let next: number | null = 1
      while (next !== null) {
        const page: Page | null = await readPageOf(source, next, deadlineAt, tally.fail)
        if (!page) break
        // It is not known which one it is, so nothing can be concluded about what is not listed; the others are read.
        if (page.nameless !== null) tally.fail(`page ${next}: ${page.nameless}`)
        let fresh = 0
        const items = page.items.filter((_, at) => {
          const id = page.ids[at] as string
          const isFresh = ofSource.add(id)
          if (isFresh) fresh += 1
          return ofSource === everything ? isFresh : everything.add(id)
        })
        next = tally.add({ items: page.items.length, fresh, total: page.total, next: page.next })
        const soFar = { source, verdict: tally.verdict() }
        state.verdict = joined([...finished, soFar], sources.length, everything.size)
        yield { items, total: page.total }
      }
      finished.push({ source, verdict: tally.verdict() })
      state.verdict = joined(finished, sources.length, everything.size)
    }
  }

  async function readPageOf(
    source: Source,
    page: number,
    deadlineAt: number,
    fail: (reason: string) => void,
  ) {
    try {
      const body = await client.json(
        { method: 'GET', target: targetOf(source, page) },
        { signal, deadlineAt, counted },
      )
      if (body) return readPage(body, source.key, source.idField)
      fail(`page ${page}: the answer is empty`)
    } catch (error) {
      // Busy is the caller's to reschedule; anything else leaves a listing that is not whole.
      if (!(error instanceof ProviderError) || error instanceof ProviderBusyError) throw error
      if (source.mayBeAbsent && page === 1 && error.status === 404 && error.code === 'not_found') {
        return { items: [], ids: [], nameless: null, total: 0, next: null }
      }
      state.refusal ??= error.status
      fail(`page ${page}: ${error.message}`)
    }
    return null
  }

  function targetOf(source: Source, page: number): string {
    const query = new URLSearchParams(source.query)
    if (source.paged) {
      query.set('page', String(page))
      query.set('per_page', String(limits.perPage))
    }
    return query.size > 0 ? `${source.path}?${query}` : source.path
  }

  const pages = read()
  return {
    [Symbol.asyncIterator]: () => pages,
    get verdict() {
      return state.verdict
    },
    get refusal() {
      return state.refusal
    },
  }
}

function joined(
  read: { source: Source; verdict: ListingVerdict }[],
  wanted: number,
  distinct: number,
): ListingVerdict {
  const pages = read.reduce((sum, { verdict }) => sum + verdict.pages, 0)
  const broken = read.find(({ verdict }) => !verdict.complete)
  if (broken) {
    const where = new URLSearchParams(broken.source.query).toString()
    const reason = `${broken.source.path}${where ? `?${where}` : ''}: ${broken.verdict.reason}`
    return { complete: false, pages, total: sumOfTotals(read, wanted), reason }
  }
  if (read.length < wanted) {
    return { complete: false, pages, total: null, reason: 'the listing was not read to its end' }
  }
  const counted = read.some(({ verdict }) => verdict.total !== null)
  // Should an item ever show up under two endpoints, it is one item: count it once.
  return { complete: true, pages, total: counted ? distinct : null, reason: null }
}

function sumOfTotals(read: { verdict: ListingVerdict }[], wanted: number): number | null {
  if (read.length < wanted) return null
  return read.reduce<number | null>(
    (sum, { verdict }) => (sum === null || verdict.total === null ? null : sum + verdict.total),
    0,
  )
}

/** The whole listing in memory; for kinds that fit there. */
export async function collect(listing: PagedListing, onPage?: ListOptions['onPage']): Promise<Listing> {
  const items: RawItem[] = []
  for await (const page of listing) {
    for (const item of page.items) items.push(item)
    await onPage?.(page)
  }
  return { items, ...listing.verdict }
}

// When a listing counts as whole: every page was read, each following the last, with as many distinct items as the
// provider says there are. Whatever is less says why, because a sweep strikes what it misses.

export interface PageCount {
  items: number
  /** Items this listing had not shown before. */
  fresh: number
  total: number | null
  next: number | null
}

export interface ListingVerdict {
  complete: boolean
  pages: number
  total: number | null
  /** Why it is not complete; null when it is. */
  reason: string | null
}

export interface Tally {
  /** Takes a page that was read; returns the page to ask for next, or null to stop. */
  add(page: PageCount): number | null
  fail(reason: string): void
  verdict(): ListingVerdict
}

export function createTally({ paged, maxPages }: { paged: boolean; maxPages: number }): Tally {
  let pages = 0
  let distinct = 0
  let total: number | null = null
  let reason: string | null = null
  let ended = false

  // The first reason is the cause; later ones are its consequences.
  function fail(why: string): null {
    reason ??= why
    return null
  }

  function unexpectedEnd(page: PageCount): string | null {
    if (paged && total === null) return 'the provider stated no total'
    if (total !== null && page.next === null && distinct !== total) {
      return `${distinct} distinct items were listed but the provider counts ${total}`
    }
    if (page.next === null) return null
    if (!paged) return 'the answer names a next page although this listing has only one'
    if (page.next !== pages + 1) return `page ${pages} names page ${page.next} as the next`
    if (page.items === 0) return `page ${pages} is empty but names a next page`
    if (page.fresh === 0) return `page ${pages} repeats what was already listed`
    if (total !== null && distinct > total)
      return `more items are listed than the ${total} the provider counts`
    if (pages >= maxPages) return `the listing has more than ${maxPages} pages`
    return null
  }

  return {
    add(page) {
      pages += 1
      distinct += page.fresh
      // Rows came or went while we read, so pages may have shifted past us. Reading on is still worth it:
      // what is seen can be refreshed, only nothing can be concluded about what is not.
      if (pages > 1 && page.total !== total)
        fail(`the total changed from ${total} to ${page.total} on page ${pages}`)
      total = page.total
      const wrong = unexpectedEnd(page)
      if (wrong !== null) return fail(wrong)
      if (page.next === null) ended = true
      return page.next
    },
    fail(why) {
      fail(why)
    },
    verdict() {
      const complete = ended && reason === null
      return {
        complete,
        pages,
        total,
        reason: complete ? null : (reason ?? 'the listing was not read to its end'),
      }
    },
  }
}

/**
 * Counts distinct ids in 16 to 32 bytes each, so that a listing of a million rows stays small. It keeps 64-bit
 * fingerprints: two ids sharing one are counted once, which can only make a listing look incomplete, never complete.
 */
export interface DistinctIds {
  /** True when the id was not seen before. */
  add(id: string): boolean
  readonly size: number
}

export function createDistinctIds(): DistinctIds {
  // Open addressing over pairs of 32-bit words; the pair (0, 0) marks a free slot.
  let slots = new Uint32Array(2 * 64)
  let size = 0

  function place(table: Uint32Array, high: number, low: number): boolean {
    const mask = table.length / 2 - 1
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const heldHigh = table[2 * at]
      const heldLow = table[2 * at + 1]
      if (heldHigh === high && heldLow === low) return false
      if (heldHigh === 0 && heldLow === 0) {
        table[2 * at] = high
        table[2 * at + 1] = low
        return true
      }
    }
  }

  function grow() {
    const wider = new Uint32Array(slots.length * 2)
    for (let at = 0; at < slots.length; at += 2) {
      const high = slots[at] as number
      const low = slots[at + 1] as number
      if (high !== 0 || low !== 0) place(wider, high, low)
    }
    slots = wider
  }

  return {
    add(id) {
      const [high, low] = fingerprint(id)
      if (!place(slots, high, low)) return false
      size += 1
      if (size * 4 > slots.length) grow()
      return true
    },
    get size() {
      return size
    },
  }
}

/** Two multiplicative lanes folded into each other at the end; never (0, 0). */
function fingerprint(text: string): [high: number, low: number] {
  let a = 0x9e3779b9 ^ text.length
  let b = 0x7f4a7c15
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 0x85ebca6b)
    a ^= a >>> 15
    b = Math.imul(b ^ code, 0xc2b2ae35)
    b ^= b >>> 13
  }
  a = Math.imul(a ^ (b >>> 16), 0x27d4eb2f)
  b = Math.imul(b ^ (a >>> 15), 0x165667b1)
  const high = (a ^ (b >>> 13)) >>> 0
  const low = (b ^ (a >>> 16)) >>> 0
  return [high, high === 0 && low === 0 ? 1 : low]
}
