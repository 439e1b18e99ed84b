// Decides which faults the simulated provider can be asked for, and which requests a planned one strikes.
// How each is carried out on the wire is in fault-effects.ts.
import { FaultQueue, type Turns } from '../fault-queue.ts'
import { isKind, KINDS, type Kind } from '../world/kinds.ts'

export type Fault =
  | { fault: 'too_many_requests'; retry_after?: 'seconds' | 'http-date' | 'none'; seconds?: number }
  /** Any other refusal, before anything is done: 500 unless said otherwise. */
  | { fault: 'server_error'; status?: number; id?: string; message?: string }
  | { fault: 'connection_reset' }
  /** Takes the request and never answers. */
  | { fault: 'stall' }
  /** The write is done, then the answer is lost. */
  | { fault: 'reset_after_commit' }
  | { fault: 'error_after_commit'; status?: number }
  | { fault: 'cut_json'; keep?: number }
  | { fault: 'html' }
  | { fault: 'empty_body' }
  | { fault: 'slow_bytes'; chunk_bytes?: number; every_ms?: number }
  /** The next link leads to the same page again, or back to the first one. */
  | { fault: 'repeat_page' }
  | { fault: 'loop_pages' }
  /** Before this page is read, an item appears in front of the listing or its first one vanishes. */
  | { fault: 'shift_pages'; change: 'insert' | 'remove' }
  | { fault: 'wrong_total'; by?: number }
  /** A listing that does not know yet of what was made last. */
  | { fault: 'stale_listing' }
  /** What a token without a side scope sees. */
  | { fault: 'missing_fields'; fields?: string[] }

export type Match = {
  method?: string
  /** A whole path without its query; `*` stands for anything. */
  path?: string
  kind?: Kind
  page?: number
}

export type FaultSpec = Fault & { match?: Match }

export const faultNames = [
  'too_many_requests',
  'server_error',
  'connection_reset',
  'stall',
  'reset_after_commit',
  'error_after_commit',
  'cut_json',
  'html',
  'empty_body',
  'slow_bytes',
  'repeat_page',
  'loop_pages',
  'shift_pages',
  'wrong_total',
  'stale_listing',
  'missing_fields',
] as const satisfies Fault['fault'][]

export type Seen = { method: string; path: string; query: URLSearchParams }

export class Faults {
  readonly #queue = new FaultQueue<FaultSpec>()

  add(spec: FaultSpec & Turns): number {
    return this.#queue.add(spec)
  }

  take(request: Seen): FaultSpec | undefined {
    return this.#queue.take(spec => strikes(spec.match ?? {}, request))
  }

  list() {
    return this.#queue.list()
  }

  clear(): void {
    this.#queue.clear()
  }
}

function strikes(match: Match, request: Seen): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== request.method) return false
  if (match.path !== undefined && !pattern(match.path).test(request.path)) return false
  if (match.kind !== undefined && !speaksOf(match.kind, request)) return false
  return match.page === undefined || match.page === Number(request.query.get('page') ?? 1)
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`)
}

function speaksOf(kind: Kind, { path, query }: Seen): boolean {
  const root = KINDS[kind].path
  if (path !== root && !path.startsWith(`${root}/`)) return false
  const gpus = query.get('type') === 'gpus'
  return kind === 'gpu_droplet' ? gpus : !(kind === 'droplet' && gpus)
}

/** The kind whose listing a request reads. */
export function listedKind({ path, query }: Seen): Kind | undefined {
  if (path === KINDS.droplet.path) return query.get('type') === 'gpus' ? 'gpu_droplet' : 'droplet'
  return (Object.keys(KINDS) as Kind[]).find(kind => KINDS[kind].path === path)
}

/** Checks what came over the wire; the message says what was wrong with it. */
export function readFault(body: unknown): (FaultSpec & Turns) | string {
  if (typeof body !== 'object' || body === null) return 'a fault is a JSON object'
  const { fault, times, after, match } = body as Record<string, unknown>
  if (!faultNames.some(name => name === fault)) return `fault must be one of: ${faultNames.join(', ')}`
  if (times !== undefined && times !== 'always' && !isCount(times)) return 'times is a number or "always"'
  if (after !== undefined && !isCount(after)) return 'after is a number'
  if (match !== undefined) {
    if (typeof match !== 'object' || match === null) return 'match is an object'
    const { kind } = match as Record<string, unknown>
    if (kind !== undefined && !(typeof kind === 'string' && isKind(kind))) return `no kind ${String(kind)}`
  }
  return body as FaultSpec & Turns
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}
