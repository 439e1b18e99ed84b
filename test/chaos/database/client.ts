// The caller's side: one request for each intent, sent again under the same key until it is answered, now to this process
// and now to that one; and the history of it all.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { JWTPayload } from 'jose'
import { tokenMaker } from '../../support/tokens.ts'
import { type Effect, OPERATIONS, type OperationName, operationOf } from './operations.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Json = any

export interface Answer {
  status: number
  body: Json
}

export interface Attempt {
  status: number
  /** The problem's code, or why there was no answer. */
  code?: string
  request_id?: string
  ms: number
}

export interface Intent {
  operation: OperationName
  key: string
  path: string
  body: Json
  caller: JWTPayload
  attempts: Attempt[]
  /** What it is to have done, once it is done. */
  effects: Effect[]
  outcome: 'done' | 'refused' | 'open'
  /** Refused, and no story has an answer to that. */
  unexpected?: boolean
  answer?: Answer
  /** The answer to the same request once more, where it was not the same. */
  other?: Answer
}

export interface Request {
  params?: Record<string, string>
  query?: string
  body?: object
  /** Claims of the caller; none: a platform_admin. */
  as?: JWTPayload
  /** Codes of refusals that the story has an answer to. */
  refusals?: string[]
  /** What the effect is on, where neither the answer nor the path says so. */
  subject?: string
  /** Of an operation that creates or changes, which of the two it is here. */
  action?: Effect['action']
}

export interface Client {
  send(operation: OperationName, request?: Request): Promise<Json>
  /** A read, asked until it is answered. */
  get(path: string): Promise<Json>
  history: Intent[]
  /** Nothing is sent again any more. */
  giveUp(): void
  /** Answers that no fault of the database excuses: any 5xx but 503. */
  faults: { operation: string; request_id?: string }[]
  /** The same request under the same key once more. */
  repeat(intent: Intent): Promise<Answer | undefined>
}

/** Thrown into a story that is to end here. */
export class StoryOver extends Error {}

const ATTEMPT_MS = 20_000
/** The first request under the key is still being worked on, or it lost a race and was not done. */
const AGAIN = new Set(['idempotency_in_progress', 'conflict', 'rate_limited'])
const isOpen = ({ status, code }: Attempt) =>
  status === 0 || status >= 500 || (status >= 400 && AGAIN.has(code ?? ''))
/** Whether it may have been done although nobody said so. */
export const isUnknown = ({ status }: Attempt) => status === 0 || status >= 500

export function createClient(urls: () => string[], random: () => number, repeated: number): Client {
  const history: Intent[] = []
  const faults: Client['faults'] = []
  const tokens = tokenMaker(() => new Date())
  let givenUp = false

  async function attempt(method: string, path: string, intent: Pick<Intent, 'caller' | 'key' | 'body'>) {
    const began = performance.now()
    const took = () => Math.round(performance.now() - began)
    const all = urls()
    try {
      const response = await fetch(all[Math.floor(random() * all.length)]! + path, {
        method,
        headers: {
          authorization: `Bearer ${await tokens.raw({ exp: Math.floor(Date.now() / 1000) + 3600, ...intent.caller })}`,
          ...(method !== 'GET' && { 'idempotency-key': intent.key }),
          ...(intent.body !== undefined && { 'content-type': 'application/json' }),
        },
        body: intent.body === undefined ? undefined : JSON.stringify(intent.body),
        signal: AbortSignal.timeout(ATTEMPT_MS),
      })
      const text = await response.text()
      const body = text === '' ? undefined : (JSON.parse(text) as Json)
      const request_id = response.headers.get('x-request-id') ?? undefined
      const made: Attempt = { status: response.status, code: body?.code, request_id, ms: took() }
      return { made, answer: { status: response.status, body } }
    } catch (error) {
      const { name, cause } = error as Error & { cause?: { code?: string } }
      const made: Attempt = { status: 0, code: cause?.code ?? name, ms: took() }
      return { made }
    }
  }

  const note = (operation: string, { status, request_id }: Attempt) => {
    if (status >= 500 && status !== 503) faults.push({ operation, request_id })
  }
  const wait = () => pause(100 + random() * 400)

  async function untilAnswered(method: string, intent: Intent): Promise<Answer | undefined> {
    for (;;) {
      const { made, answer } = await attempt(method, intent.path, intent)
      intent.attempts.push(made)
      note(intent.operation, made)
      if (!isOpen(made)) return answer
      if (givenUp) return undefined
      await wait()
    }
  }

  return {
    history,
    faults,
    giveUp: () => {
      givenUp = true
    },
    async get(path) {
      for (;;) {
        const caller = { sub: 'ada', role: 'platform_admin' }
        const { made, answer } = await attempt('GET', path, { caller, key: '', body: undefined })
        note(`GET ${path.split('?')[0]!.replace(/[0-9a-f-]{36}/g, ':id')}`, made)
        if (!isOpen(made)) return answer?.body
        if (givenUp) throw new StoryOver('the campaign is over')
        await wait()
      }
    },
    async send(operation, request = {}) {
      const { method, path, keyed } = operationOf(operation)
      const { params = {}, query = '', body, as = { sub: 'ada', role: 'platform_admin' } } = request
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]!))
      const intent: Intent = {
        operation,
        key: randomUUID(),
        path: filled + query,
        body: body ?? (method === 'DELETE' ? undefined : {}),
        caller: as,
        attempts: [],
        effects: [],
        outcome: 'open',
      }
      history.push(intent)
      const answer = await untilAnswered(method, intent)
      if (!answer) throw new StoryOver('the campaign is over')
      intent.answer = answer
      const { already = [] } = OPERATIONS[operation]
      const unknown = intent.attempts.some(isUnknown)
      const done = answer.status < 300 || (unknown && already.includes(answer.body?.code))
      intent.outcome = done ? 'done' : 'refused'
      if (!done) {
        if (request.refusals?.includes(answer.body?.code)) return answer.body
        intent.unexpected = true
        throw new StoryOver(`${operation} was refused`)
      }
      const { effects = [] } = OPERATIONS[operation]
      const sent = { data: answer.body?.data, params, ...request }
      intent.effects = effects.map(effect => effect(sent))
      if (keyed && random() < repeated)
        intent.other = differing(intent, await untilAnswered(method, copyOf(intent)))
      return answer.body
    },
    async repeat(intent) {
      return untilAnswered(operationOf(intent.operation).method, copyOf(intent))
    },
  }

  function copyOf(intent: Intent): Intent {
    return { ...intent, attempts: [] }
  }
}

/** Only what honours the key says the same again. */
export function differing(intent: Intent, answer: Answer | undefined): Answer | undefined {
  if (!answer || !operationOf(intent.operation).keyed) return undefined
  return JSON.stringify(answer) === JSON.stringify(intent.answer) ? undefined : answer
}
