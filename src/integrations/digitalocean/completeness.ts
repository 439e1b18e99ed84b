// When a listing counts as whole: every page answered, each following the last, and as many distinct items
// as the provider says there are. Pure. Whatever is less says why, because a sweep strikes what it misses.

export interface PageCount {
  items: number
  /** Items this listing had not shown before. */
  fresh: number
  total: number | null
  next: number | null
}

export interface Verdict {
  complete: boolean
  pages: number
  total: number | null
  /** Why it is not complete; null when it is. */
  reason: string | null
}

export interface Tally {
  /** Takes the answered page; returns the page to ask for next, or null to stop. */
  add(page: PageCount): number | null
  fail(reason: string): void
  verdict(): Verdict
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
