// What must have become of the inventory after a sweep, told from what the provider really answered. It is the seed's
// lifecycle table once more, row by row, and shares no line with the code under test.
import { type Answers, type ChaosKind, type Shown, SOURCES, sourcesOf } from './provider.ts'

export interface Row {
  revision: number | undefined
  strikes: number
  deleted: boolean
}

export interface Event {
  kind: 'discovered' | 'updated' | 'deleted' | 'restored'
  provider_id: string
}

export type Model = Map<string, Row>

/** The contract's words: every page was answered, and the distinct count is the provider's total. */
export function wasWhole(kind: ChaosKind, { pages }: Answers): boolean {
  return sourcesOf(kind).every(source => {
    const read = pages.filter(page => page.source === source)
    const last = read.at(-1)
    if (!last || last.next !== null) return false
    if (read.some((page, index) => page.number !== index + 1)) return false
    if (read.slice(0, -1).some(page => page.next !== page.number + 1)) return false
    if (read.some(page => page.total !== last.total)) return false
    // One that cannot be told from the others may be any that was not shown.
    if (read.some(page => page.nameless)) return false
    const distinct = new Set(read.flatMap(page => page.shown.map(thing => thing.id))).size
    return SOURCES[source].paged || last.total !== undefined ? distinct === last.total : true
  })
}

/** What was shown, the first time each. */
export function shownIn({ pages }: Answers): Map<string, Shown> {
  const shown = new Map<string, Shown>()
  for (const thing of pages.flatMap(page => page.shown)) if (!shown.has(thing.id)) shown.set(thing.id, thing)
  return shown
}

export function see(model: Model, shown: Map<string, Shown>): Event[] {
  const events: Event[] = []
  for (const { id, revision } of shown.values()) {
    const row = model.get(id)
    const changed = revision !== undefined && row?.revision !== revision
    if (!row) events.push({ kind: 'discovered', provider_id: id })
    else if (row.deleted) events.push({ kind: 'restored', provider_id: id })
    else if (changed) events.push({ kind: 'updated', provider_id: id })
    model.set(id, { revision: revision ?? row?.revision, strikes: 0, deleted: false })
  }
  return events
}

export function strike(model: Model, shown: Map<string, Shown>): Event[] {
  const events: Event[] = []
  for (const [id, row] of model) {
    if (row.deleted || shown.has(id)) continue
    row.strikes += 1
    if (row.strikes < 3) continue
    row.deleted = true
    events.push({ kind: 'deleted', provider_id: id })
  }
  return events
}
