// Reads a listing from the provider page by page, one after the other, and says whether it was whole.
// A kind may be spread over several endpoints: it is whole only when each of them was.
import type { Clock } from './clock.ts'
import { createTally, type Verdict } from './completeness.ts'
import type { Courier } from './courier.ts'
import { createDistinctIds } from './distinct-ids.ts'
import { ProviderBusyError, ProviderError } from './errors.ts'
import type { Limits } from './limits.ts'
import { type Page, type RawItem, readPage } from './page.ts'

export interface Source {
  path: string
  query?: Readonly<Record<string, string>>
  /** The key of the array in the answer. */
  key: string
  idField: string
  /** False where the endpoint declares no paging: one answer is everything, and carries no total. */
  paged: boolean
  /** An endpoint not every account is offered: its plain 404 means there is nothing to list. */
  mayBeAbsent?: boolean
}

export interface ListOptions {
  signal?: AbortSignal
  onPage?: (page: ListingPage) => void | Promise<void>
}

export interface ListingPage {
  /** No item comes twice in one listing. */
  items: RawItem[]
  /** The provider's count for the endpoint being read. */
  total: number | null
}

export interface Listing extends Verdict {
  items: RawItem[]
}

/** Iterate once; `verdict` is final after the loop ran to its end, and incomplete until then. */
export interface PagedListing extends AsyncIterable<ListingPage> {
  readonly verdict: Verdict
}

export interface ListingParts {
  courier: Courier
  clock: Clock
  limits: Pick<Limits, 'perPage' | 'maxPages' | 'listingDeadlineMs'>
}

export function openListing(
  parts: ListingParts,
  sources: readonly Source[],
  signal?: AbortSignal,
): PagedListing {
  const { courier, clock, limits } = parts
  const state: { verdict: Verdict } = { verdict: joined([], sources.length, 0) }

  async function* read(): AsyncGenerator<ListingPage> {
    const deadlineAt = clock.now() + limits.listingDeadlineMs
    const everything = createDistinctIds()
    const finished: { source: Source; verdict: Verdict }[] = []
    for (const source of sources) {
      const tally = createTally({ paged: source.paged, maxPages: limits.maxPages })
      const ofSource = sources.length > 1 ? createDistinctIds() : everything
      let next: number | null = 1
      while (next !== null) {
        const page: Page | null = await answered(source, next, deadlineAt, tally.fail)
        if (!page) break
        // Nobody can tell which one it is, so nothing can be concluded about what is not listed; the others are read.
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

  async function answered(source: Source, page: number, deadlineAt: number, fail: (reason: string) => void) {
    try {
      const body = await courier.json(
        { method: 'GET', target: targetOf(source, page) },
        { signal, deadlineAt },
      )
      if (body) return readPage(body, source.key, source.idField)
      fail(`page ${page}: the answer is empty`)
    } catch (error) {
      // Busy is the caller's to reschedule; anything else leaves a listing that is not whole.
      if (!(error instanceof ProviderError) || error instanceof ProviderBusyError) throw error
      if (source.mayBeAbsent && page === 1 && error.status === 404 && error.code === 'not_found') {
        return { items: [], ids: [], nameless: null, total: 0, next: null }
      }
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
  }
}

function joined(read: { source: Source; verdict: Verdict }[], wanted: number, distinct: number): Verdict {
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

function sumOfTotals(read: { verdict: Verdict }[], wanted: number): number | null {
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
