// One tenant's slow questions do not keep the others waiting: of the process's database connections a tenant's requests
// use a share at a time. More of them wait their turn for a while; then they are told to come back.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { type Caller, seesAllTenants } from './caller.ts'

export interface FairShare {
  /** The function that ends the group's turn: at once where there is a place, otherwise when it is its turn. */
  enter(group: string): Leave | Promise<Leave>
}

type Leave = () => void

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

  function onceOnly(name: string, group: Group): Leave {
    let left = false
    return () => {
      if (!left) leave(name, group)
      left = true
    }
  }

  return {
    enter(name) {
      const group = groups.get(name) ?? { running: 0, waiting: [] }
      groups.set(name, group)
      if (group.running < atOnce) {
        group.running += 1
        return onceOnly(name, group)
      }
      if (group.waiting.length >= mostWaiting) return Promise.reject(tooManyAtOnce())
      return new Promise((resolve, reject) => {
        const go = () => {
          clearTimeout(timer)
          resolve(onceOnly(name, group))
        }
        const timer = setTimeout(() => {
          group.waiting.splice(group.waiting.indexOf(go), 1)
          reject(tooManyAtOnce())
        }, waitMs)
        group.waiting.push(go)
      })
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
export const groupOf = (caller: Pick<Caller, 'platformAdmin' | 'operator' | 'tenantId'>): string =>
  JSON.stringify(seesAllTenants(caller) ? null : caller.tenantId)

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives the tenant's place back. */
    leave: Leave | undefined
  }
}

/**
 * Before whatever else stands between a request that was read and its handler. Callbacks, not async functions: these run
 * for every request, and most have nothing to wait for.
 */
export function installFairShare(app: FastifyInstance, share: FairShare): void {
  app.decorateRequest('leave', undefined)
  app.addHook('preHandler', (request, reply, done) => {
    if (!request.caller) return done()
    // A caller that hangs up does not end what the database does for it; the answer that nobody reads does.
    const enter = (left: Leave) => {
      request.leave = left
      done()
    }
    const turn = share.enter(groupOf(request.caller))
    if (typeof turn === 'function') return enter(turn)
    turn.then(enter, error => {
      reply.header('retry-after', '1')
      done(error)
    })
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    leave(request)
    done(null, payload)
  })
}

function leave(request: FastifyRequest): void {
  request.leave?.()
  request.leave = undefined
}
