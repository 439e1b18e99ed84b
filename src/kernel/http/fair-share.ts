// One tenant's slow questions do not keep the others waiting: of the process's database connections a tenant's requests
// use a share at a time. More of them wait their turn for a while; then they are told to come back.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import type { Caller } from './caller.ts'

export interface FairShare {
  /** Resolves when it is the group's turn, with the function that ends it. */
  enter(group: string): Promise<() => void>
}

export interface FairShareOptions {
  /** Requests of one group that run at once. */
  atOnce: number
  /** How many of a group may wait, and how long. */
  mostWaiting: number
  waitMs: number
}

interface Group {
  running: number
  waiting: (() => void)[]
}

export function fairShare({ atOnce, mostWaiting, waitMs }: FairShareOptions): FairShare {
  const groups = new Map<string, Group>()

  function leave(name: string, group: Group): void {
    const next = group.waiting.shift()
    // The place is handed on, not given back, so that nobody slips in between.
    if (next) next()
    else if (--group.running === 0) groups.delete(name)
  }

  function onceOnly(name: string, group: Group): () => void {
    let left = false
    return () => {
      if (!left) leave(name, group)
      left = true
    }
  }

  return {
    async enter(name) {
      const group = groups.get(name) ?? { running: 0, waiting: [] }
      groups.set(name, group)
      if (group.running < atOnce) {
        group.running += 1
        return onceOnly(name, group)
      }
      if (group.waiting.length >= mostWaiting) throw tooManyAtOnce()
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          clearTimeout(timer)
          resolve()
        }
        const timer = setTimeout(() => {
          group.waiting.splice(group.waiting.indexOf(go), 1)
          reject(tooManyAtOnce())
        }, waitMs)
        group.waiting.push(go)
      })
      return onceOnly(name, group)
    },
  }
}

const tooManyAtOnce = () =>
  new AppError(
    'rate_limited',
    'rate_limited',
    'Too many requests at once. Wait for some of them to be answered.',
  )

/** Operators are a group of their own: their questions are the largest. */
export const groupOf = ({ platformAdmin, tenantId }: Pick<Caller, 'platformAdmin' | 'tenantId'>): string =>
  JSON.stringify(platformAdmin ? null : tenantId)

const OUTLIVES_CALLER_MS = 60_000

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives the tenant's place back. */
    leave: (() => void) | undefined
  }
}

/** Before whatever else stands between a request that was read and its handler. */
export function installFairShare(app: FastifyInstance, share: FairShare): void {
  app.decorateRequest('leave', undefined)
  app.addHook('preHandler', async (request, reply) => {
    if (!request.caller) return
    request.leave = await share.enter(groupOf(request.caller)).catch(error => {
      reply.header('retry-after', '1')
      throw error
    })
    // A caller that hangs up does not end what the database does for it; the answer that nobody reads does, later.
    reply.raw.once('close', () => setTimeout(() => leave(request), OUTLIVES_CALLER_MS).unref())
  })
  app.addHook('onSend', async request => leave(request))
}

function leave(request: FastifyRequest): void {
  request.leave?.()
  request.leave = undefined
}
