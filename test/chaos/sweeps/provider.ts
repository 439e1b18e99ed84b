// A provider in this process that breaks in every way it is told to, and keeps a record of what it really answered, so
// that whether a listing was whole can be judged without asking the client.
import type { Fetch, RawItem } from '../../../src/integrations/digitalocean/index.ts'

export const PER_PAGE = 3

export const SOURCES = {
  volume: { kind: 'volume', path: '/v2/volumes', key: 'volumes', id: 'id', paged: true },
  droplet: { kind: 'droplet', path: '/v2/droplets', key: 'droplets', id: 'id', paged: true },
  gpu: { kind: 'droplet', path: '/v2/droplets?type=gpus', key: 'droplets', id: 'id', paged: true },
  database: { kind: 'database', path: '/v2/databases', key: 'databases', id: 'id', paged: false },
  ipv4: { kind: 'reserved_ip', path: '/v2/reserved_ips', key: 'reserved_ips', id: 'ip', paged: true },
  ipv6: { kind: 'reserved_ip', path: '/v2/reserved_ipv6', key: 'reserved_ipv6s', id: 'ip', paged: true },
} as const

export type Source = keyof typeof SOURCES
export type ChaosKind = (typeof SOURCES)[Source]['kind']
export const sourceNames = Object.keys(SOURCES) as Source[]
export const sourcesOf = (kind: ChaosKind) => sourceNames.filter(name => SOURCES[name].kind === kind)

export const FAULTS = [
  // Refusals; the client tries some of them again.
  'error_500',
  'error_503',
  'busy_429',
  'forbidden_403',
  'gone_404',
  'redirect_302',
  'reset',
  // Answers that are no page.
  'cut_json',
  'html',
  'empty_body',
  'no_object',
  'no_list',
  'item_without_id',
  // Pages that lead astray.
  'next_repeats',
  'next_loops',
  'next_skips',
  'next_is_nonsense',
  'ends_early',
  'goes_on',
  'endless',
  // Totals that do not fit.
  'total_too_high',
  'total_too_low',
  'total_missing',
  'total_is_text',
  // A provider that changes while it is read.
  'inserts_in_front',
  'removes_the_first',
  // What is no fault of the listing.
  'item_twice',
  'fields_missing',
  // The worker's own troubles.
  'worker_stops',
  'run_taken_over',
  'clock_set_back',
] as const
export type FaultName = (typeof FAULTS)[number]

export interface Fault {
  name: FaultName
  /** The request of the sweep it begins with, counted from 0, and how many requests meet it. */
  from: number
  times: number
}

interface Thing {
  id: string
  revision: number
}

export interface Shown {
  id: string
  /** Undefined when the answer lacked the field. */
  revision: number | undefined
}

/** A page that was answered as pages are. */
interface Page {
  source: Source
  number: number
  shown: Shown[]
  total: unknown
  next: number | null
  /** An item of it had no id. */
  nameless: boolean
}

export interface Answers {
  pages: Page[]
  requests: number
  met: Set<FaultName>
}

/** What the faults that are not the provider's do. */
export interface Outside {
  stopWorker(): void
  takeOver(): Promise<void>
  setClockBack(): void
}

export function chaosProvider() {
  const things = Object.fromEntries(sourceNames.map(name => [name, [] as Thing[]])) as Record<Source, Thing[]>
  let faults: Fault[] = []
  let outside: Outside | undefined
  let answers: Answers = { pages: [], requests: 0, met: new Set() }
  let revisions = 0
  const freshId = (source: Source) =>
    `${source === 'droplet' || source === 'gpu' ? '' : `${source}-`}${900 + ++revisions}`

  const fetch: Fetch = async address => {
    const url = new URL(address)
    if (url.pathname === '/v2/projects/default')
      return json({ project: { id: 'default', name: 'Default', is_default: true } })
    const index = answers.requests++
    const meets = ({ name, from, times }: Fault) =>
      index >= from && (name === 'endless' || index < from + times)
    const active = faults.filter(meets).map(fault => fault.name)
    const number = Number(url.searchParams.get('page') ?? 1)
    url.searchParams.delete('page')
    url.searchParams.delete('per_page')
    const path = url.pathname + url.search
    const source = sourceNames.find(name => SOURCES[name].path === path)!
    for (const name of active) {
      answers.met.add(name)
      if (name === 'worker_stops') outside?.stopWorker()
      if (name === 'run_taken_over') await outside?.takeOver()
      if (name === 'clock_set_back') outside?.setClockBack()
      if (name === 'inserts_in_front') things[source].unshift({ id: freshId(source), revision: ++revisions })
      if (name === 'removes_the_first') things[source].shift()
    }
    const refusal = active.find(name => refusals[name])
    if (refusal) return refusals[refusal]!()
    return page(source, number, new Set(active), index)
  }

  function page(source: Source, number: number, active: ReadonlySet<FaultName>, index: number) {
    const { key, paged } = SOURCES[source]
    const from = paged ? (number - 1) * PER_PAGE : 0
    let held = paged ? things[source].slice(from, from + PER_PAGE) : things[source].slice()
    let total: unknown = paged ? things[source].length : undefined
    let next: number | null = paged && from + PER_PAGE < things[source].length ? number + 1 : null
    if (active.has('endless')) {
      held = Array.from({ length: PER_PAGE }, (_, i) => ({
        id: `${source === 'droplet' || source === 'gpu' ? '' : `${source}-`}${7_000 + number * PER_PAGE + i}`,
        revision: 1,
      }))
      total = 1_000_000
      next = number + 1
    }
    if (active.has('item_twice') && held[0]) held = [...held, held[0]]
    if (active.has('next_repeats')) next = number
    if (active.has('next_loops')) next = 1
    if (active.has('next_skips')) next = number + 2
    if (active.has('goes_on')) next = number + 1
    if (active.has('ends_early')) next = null
    if (active.has('total_too_high')) total = Number(total ?? held.length) + 1
    if (active.has('total_too_low')) total = Math.max(0, Number(total ?? held.length) - 1)
    if (active.has('total_missing')) total = undefined
    if (active.has('total_is_text')) total = String(total)

    const missing = active.has('fields_missing')
    const items = held.map((thing, at) => item(source, thing, missing, index + at))
    const withoutId = active.has('item_without_id') && items.length > 0
    if (withoutId) delete items[0]![SOURCES[source].id]
    const nonsense = active.has('next_is_nonsense')
    const link = nonsense
      ? 'https://elsewhere.example/?page=-1'
      : `https://api.digitalocean.com${SOURCES[source].path.split('?', 1)[0]}?page=${next}`
    const body = {
      [active.has('no_list') ? 'lists' : key]: items,
      links: next !== null || nonsense ? { pages: { next: link } } : {},
      ...(total === undefined ? {} : { meta: { total } }),
    }
    const readable = !nonsense && !active.has('no_list') && !active.has('total_is_text')
    const named = withoutId ? held.slice(1) : held
    const shown = named.map(({ id, revision }) => ({ id, revision: missing ? undefined : revision }))
    if (readable) answers.pages.push({ source, number, shown, total, next, nameless: withoutId })
    return json(body)
  }

  return {
    fetch,
    things,
    /** Another answer than before, for the same id. */
    nextRevision: () => ++revisions,
    /** From now on requests are counted for one sweep, which meets these faults. */
    begin(planned: Fault[], effects: Outside): void {
      faults = planned
      outside = effects
      answers = { pages: [], requests: 0, met: new Set() }
    },
    answers: () => answers,
    reset(): void {
      for (const name of sourceNames) things[name].length = 0
      faults = []
    },
  }
}

export type ChaosProvider = ReturnType<typeof chaosProvider>

/** The order of keys and of a list changes with every answer, and means nothing. */
function item(source: Source, { id, revision }: Thing, missing: boolean, turn: number): RawItem {
  const labels = turn % 2 ? ['a', 'b'] : ['b', 'a']
  const { id: field, kind } = SOURCES[source]
  const fields: [string, unknown][] = [
    [field, kind === 'droplet' ? Number(id) : id],
    ['name', `name-${id}`],
    ['region', kind === 'database' ? 'nyc3' : { slug: 'nyc3' }],
    ['labels', labels],
    ...(missing
      ? []
      : ([
          ['revision', revision],
          ['tags', labels],
          ['status', 'active'],
        ] as [string, unknown][])),
  ]
  return Object.fromEntries(turn % 3 ? fields : fields.reverse())
}

const answer = (status: number, text: string) => ({
  status,
  headers: new Headers({ 'content-type': 'application/json' }),
  body: new Response(text).body,
})
const json = (body: unknown) => answer(200, JSON.stringify(body))
const refused = (status: number, id: string) => () => answer(status, JSON.stringify({ id, message: 'no' }))

const refusals: Partial<Record<FaultName, () => ReturnType<typeof answer>>> = {
  error_500: refused(500, 'server_error'),
  error_503: refused(503, 'service_unavailable'),
  busy_429: refused(429, 'too_many_requests'),
  forbidden_403: refused(403, 'forbidden'),
  // Not `not_found`: that is how a listing the account does not have answers, and means that it is empty.
  gone_404: refused(404, 'gone'),
  redirect_302: refused(302, 'elsewhere'),
  reset: () => {
    throw Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    })
  },
  cut_json: () => answer(200, '{"volumes":[{"id":'),
  html: () => answer(200, '<!DOCTYPE html>'),
  empty_body: () => answer(200, ''),
  no_object: () => answer(200, '[]'),
}
