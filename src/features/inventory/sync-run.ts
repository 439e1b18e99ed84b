// A sync run: one sweep of one kind. What its record looks like, when its deletions are held, and what it says of odd items.
import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'

/** The name under which the ledger keeps the sweeps of projects, beside those of the kinds. */
export const PROJECTS = 'project'

export const RUN_STATUSES = ['running', 'complete', 'partial', 'failed', 'unavailable'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const SyncRun = noun('SyncRun', {
  id: Id,
  sweep_id: Type.String({
    description: 'The same for all kinds of one sweep: the id of the run of `resource_sync`.',
  }),
  kind: Type.String({ description: 'A kind, or `project`.' }),
  status: Type.Enum([...RUN_STATUSES], {
    description:
      '`partial`: the listing was not whole, so nothing was struck. `unavailable`: the provider has refused this kind (403, 404 or 412) for a day; `error` says why.',
  }),
  started_at: Time,
  finished_at: Nullable(Time),
  pages: Type.Integer(),
  seen: Type.Integer(),
  total: Nullable(Type.Integer({ description: 'What the provider said there are.' })),
  inserted: Type.Integer(),
  updated: Type.Integer(),
  struck: Type.Integer(),
  deleted: Type.Integer(),
  restored: Type.Integer(),
  held: Type.Integer({ description: 'Deletions held back because they were too many at once.' }),
  confirmed_at: Nullable(Time),
  confirmed_by: Nullable(Type.String()),
  error: Nullable(Type.String()),
  refused_since: Nullable(
    Type.String({
      ...Time,
      description:
        'The first run of an unbroken row of refusals (403, 404 or 412) that this one ends; else null.',
    }),
  ),
  cut: Type.Integer({
    description: 'Items that are stored in part: something of them was too long or too much.',
  }),
  set_aside: Type.Integer({
    description: 'Items that could not be stored. They count as seen: nothing of them is struck.',
  }),
  remarks: Nullable(Type.String({ description: 'What was cut or set aside, and why.' })),
})

export type SyncRunRow = Row<'sync_runs'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    sync_runs: { status: RunStatus }
  }
}

/**
 * When one sweep would delete a large part of a kind, the provider is more likely wrong than the resources gone: the
 * deletions are held until an operator confirms them. Either limit is enough: a fifth of a large account, or most of a
 * small one.
 */
const LIMITS = [
  { fewest: 100, share: 0.2 },
  { fewest: 25, share: 0.5 },
]

export function mustHold(deletions: number, living: number): boolean {
  return LIMITS.some(({ fewest, share }) => deletions >= fewest && deletions > living * share)
}

/** What says that an account or a token does not have a kind, rather than that something is broken. */
export const isRefusal = (status: number | null): boolean =>
  status === 403 || status === 404 || status === 412

const UNAVAILABLE_AFTER_MS = 24 * 3_600_000

/** A kind that was refused for a whole day is not failing: the account does not have it. */
export const refusedStatus = (since: string, now: string): 'failed' | 'unavailable' =>
  Date.parse(now) - Date.parse(since) >= UNAVAILABLE_AFTER_MS ? 'unavailable' : 'failed'

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
