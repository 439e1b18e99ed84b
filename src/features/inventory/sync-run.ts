// A sync run: one sweep of one kind. When its deletions are held, and what its record says of odd items. Pure.

/**
 * When one sweep would delete a large part of a kind, the provider is more likely wrong than the resources gone: the
 * deletions are held until an operator confirms them. Either limit is enough: a fifth of a large account, or most of a
 * small one.
 */
const LIMITS = [
  { fewest: 100, share: 0.2 },
  { fewest: 25, share: 0.5 },
]

export function mustHold(doomed: number, living: number): boolean {
  return LIMITS.some(({ fewest, share }) => doomed >= fewest && doomed > living * share)
}

const MOST_NAMED = 5
const LONGEST_ID = 64

export interface ListingRemarks {
  /** Stored, but not all of it. */
  cut(id: string, what: string[]): void
  /** Not stored; what is known of it stays. */
  setAside(id: string, why: string): void
  counts(): { cut: number; set_aside: number; remarks: string | null }
}

export function createRemarks(): ListingRemarks {
  let [cut, set_aside] = [0, 0]
  const named: string[] = []
  const name = (id: string, what: string) => {
    if (named.length < MOST_NAMED) named.push(`${shortened(id)}: ${what}`)
  }
  return {
    cut(id, what) {
      cut++
      name(id, what.slice(0, MOST_NAMED).join(', '))
    },
    setAside(id, why) {
      set_aside++
      name(id, `set aside, ${why}`)
    },
    counts() {
      const more = cut + set_aside - named.length
      const words = more > 0 ? [...named, `and ${more} more`] : named
      return { cut, set_aside, remarks: words.length > 0 ? words.join('; ') : null }
    },
  }
}

/** An id is the provider's text: one line, short, and storable whatever it holds. */
function shortened(id: string): string {
  const text = id.toWellFormed().replace(/\p{Cc}+/gu, ' ')
  return text.length > LONGEST_ID ? `${text.slice(0, LONGEST_ID).toWellFormed()}…` : text
}
