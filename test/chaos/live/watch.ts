// When each change of the provider is to be read in the inventory, over the API.
import { type Change, type Fields, keyOf, same, type Truth, WITH_ACTIONS } from './truth.ts'

export interface Row {
  id: string
  kind: string
  provider_id: string
  name: string
  status: string | null
  tags: string[]
  attrs: Record<string, unknown>
  stale_strike_count: number
  missing_since: string | null
  deleted_at: string | null
  project_id: string | null
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Ask = (path: string) => Promise<any>

export interface Sighting extends Change {
  /** Whether an action tells of it. */
  told: boolean
  /** Milliseconds until the inventory showed it; null: not yet. */
  after_ms: number | null
}

const PAGE = 200

export async function everything(ask: Ask): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const page = await ask(
      `/api/v1/inventory?include_deleted=true&limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    )
    rows.push(...page.data)
    cursor = page.next_cursor ?? null
  } while (cursor)
  return rows
}

const valueIn = (row: Row, field: string): unknown =>
  field.startsWith('attrs.') ? row.attrs[field.slice(6)] : row[field as keyof Row]

/** The fields in which the inventory's row is not as it should be. */
export const differing = (row: Row, fields: Fields): string[] =>
  Object.entries(fields).flatMap(([field, value]) => (same(valueIn(row, field), value) ? [] : [field]))

/** Whether the row shows what happened. What is gone is not deleted before three sweeps: it is missing. */
const shows = (row: Row | undefined, { after }: Change): boolean =>
  after === null
    ? row !== undefined && (row.missing_since !== null || row.deleted_at !== null)
    : row !== undefined &&
      row.deleted_at === null &&
      row.missing_since === null &&
      differing(row, after).length === 0

export function startWatch(ask: Ask, clock: () => number) {
  const ids = new Map<string, string>()
  const pending = new Map<string, Sighting>()
  const seen: Sighting[] = []
  const shown = new Map<string, Fields | null>()
  let superseded = 0

  async function rowOf({ kind, id, after }: Change): Promise<Row | undefined> {
    const key = keyOf(kind, id)
    const known = ids.get(key)
    if (known) return (await ask(`/api/v1/inventory/${known}`)).data
    const name = encodeURIComponent(String(after?.name ?? ''))
    const { data } = await ask(`/api/v1/inventory?kind=${kind}&name=${name}&limit=${PAGE}`)
    const row = (data as Row[]).find(({ provider_id }) => provider_id === id)
    if (row) ids.set(key, row.id)
    return row
  }

  return {
    seen,
    pending,
    superseded: () => superseded,
    isBusy: (kind: string, id: string | number) => pending.has(keyOf(kind, String(id))),
    /** What the inventory has before anything changes. */
    begin(rows: Row[], truth: Truth) {
      for (const row of rows) ids.set(keyOf(row.kind, row.provider_id), row.id)
      for (const [key, fields] of truth.now) shown.set(key, fields)
    },
    changed(change: Change) {
      const key = keyOf(change.kind, change.id)
      const last = shown.get(key) ?? null
      const before = pending.get(key)
      if (before) superseded += 1
      pending.delete(key)
      // Back where it was before anybody looked, or made and gone again.
      if (change.after === null ? last === null : last !== null && same(last, change.after)) return
      // What was under way and is done now is told by the same action.
      const action = change.action ?? before?.action ?? null
      const told = action !== null && WITH_ACTIONS.has(change.kind)
      pending.set(key, { ...change, action, told, after_ms: null })
    },
    async look() {
      for (const [key, sighting] of [...pending]) {
        const row = await rowOf(sighting)
        if (pending.get(key) !== sighting || !shows(row, sighting)) continue
        pending.delete(key)
        shown.set(key, sighting.after)
        seen.push({ ...sighting, after_ms: clock() - sighting.at })
      }
    },
  }
}

export type Watch = ReturnType<typeof startWatch>
