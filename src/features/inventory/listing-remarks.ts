// What was wrong with items of a listing that is whole all the same, for its record: how many, and of the first few what.

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
