// How often a caller may ask, and how many of a tenant's requests run at once. Anonymous requests and failed
// authentications are counted by address, callers by who they are; refused requests count too.
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import type { Clock } from '../time.ts'
import { API_KEY_PREFIX, type Authenticator, authenticate } from './auth.ts'
import { addressOf, type Caller, type Identity, seesAllTenants } from './caller.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that the route's requests are counted by, apart from all others; none: the common one. */
    rateLimit?: string
  }
}

export interface RateLimits {
  /** Authenticates a request and counts it; throws when either refuses it. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<Identity>
  /** For public routes. */
  admitAnonymous(request: FastifyRequest, reply: FastifyReply): void
}

export interface RateLimitOptions {
  /** Requests a minute for a caller; 0: no limit. */
  perCaller: number
  /** The same for routes that are counted by themselves, by the name in their `config.rateLimit`. */
  apart?: Record<string, number>
  /** Failed authentications a minute for an address; 0: no limit. */
  failuresPerAddress: number
  clock: Clock
}

const MOST_GOOD_KEYS = 10_000
const KEY_IN_HEADER = new RegExp(`^bearer +${API_KEY_PREFIX}`, 'i')

export function rateLimits(
  authenticator: Authenticator,
  { perCaller, apart = {}, failuresPerAddress, clock }: RateLimitOptions,
): RateLimits {
  const limiterOf = (limit: number) => (limit > 0 ? rateLimiter(limit, clock) : undefined)
  const callers = limiterOf(perCaller)
  const anonymous = limiterOf(perCaller)
  const failures = limiterOf(failuresPerAddress)
  const countedApart = new Map(Object.entries(apart).map(([name, limit]) => [name, limiterOf(limit)]))
  const goodKeys = recentlyGood()

  /**
   * Once an address has failed too often, its API keys are not looked up any more, except those that were good before,
   * and everything else that fails gets 429 instead of the reason.
   */
  async function authenticated(request: FastifyRequest, reply: FastifyReply): Promise<Identity> {
    const { authorization = '' } = request.headers
    const isKey = KEY_IN_HEADER.test(authorization)
    const blocked = isKey && failures?.peek(networkOf(addressOf(request)))
    if (blocked && blocked.left <= 0 && !goodKeys.has(authorization)) throw tooMany(reply, blocked)
    try {
      const caller = await authenticate(request, authenticator)
      if (isKey) goodKeys.add(authorization)
      return caller
    } catch (error) {
      if (!failures || !isRefusal(error)) throw error
      const count = failures.count(networkOf(addressOf(request)))
      if (count.left < 0) throw tooMany(reply, count)
      throw error
    }
  }

  function spend(limiter: RateLimiter | undefined, key: string, reply: FastifyReply): void {
    if (!limiter) return
    const count = limiter.count(key)
    reply.headers({
      'ratelimit-limit': limiter.limit,
      'ratelimit-remaining': Math.max(0, count.left),
      'ratelimit-reset': count.seconds,
    })
    if (count.left < 0) throw tooMany(reply, count)
  }

  return {
    async admit(request, reply) {
      const caller = await authenticated(request, reply)
      const { rateLimit } = request.routeOptions.config
      const limiter = rateLimit === undefined ? callers : countedApart.get(rateLimit)
      spend(limiter, callerKey(caller), reply)
      return caller
    },
    admitAnonymous: (request, reply) => spend(anonymous, networkOf(addressOf(request)), reply),
  }
}

/** As JSON, so that no tenant and user can be taken for two others, whatever their names hold. */
export const callerKey = ({ tenantId, sub }: Pick<Identity, 'tenantId' | 'sub'>): string =>
  JSON.stringify([tenantId, sub])

const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && (error.kind === 'unauthenticated' || error.kind === 'forbidden')

function tooMany(reply: FastifyReply, { seconds }: Count): AppError {
  reply.header('retry-after', seconds)
  return new AppError('rate_limited', 'rate_limited', `Too many requests. Go on in ${seconds} seconds.`)
}

/** Hashes of the keys that were good lately: whoever shares an address with a guesser is not locked out with them. */
function recentlyGood() {
  const hashes = new Set<string>()
  const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')
  return {
    has: (credential: string) => hashes.has(hashOf(credential)),
    add(credential: string) {
      const hash = hashOf(credential)
      hashes.delete(hash)
      hashes.add(hash)
      if (hashes.size > MOST_GOOD_KEYS) hashes.delete(hashes.values().next().value!)
    },
  }
}

const IPV6_GROUPS = 8
const NETWORK_GROUPS = 4

/** An IPv6 client usually has 2^64 addresses, so those are counted by their /64 network. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const plain = address.split('%')[0]!
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped) return mapped[1]!
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  // An embedded IPv4 address stands for the last two groups, which are no part of the network.
  const written = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array<string>(IPV6_GROUPS - written).fill('0')
  const network = [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS)
  return `${network.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

const WINDOW_MS = 60_000
const MOST_KEYS = 20_000

export interface Count {
  /** How many more there may be in this window; below zero: it was one too many. */
  left: number
  /** Until the window ends. */
  seconds: number
}

export interface RateLimiter {
  limit: number
  count(key: string): Count
  /** The current count, without adding to it. */
  peek(key: string): Count
}

/** Counts by key in windows of a minute. Memory is bounded: beyond `mostKeys` the key counted longest ago is dropped. */
export function rateLimiter(limit: number, clock: Clock, mostKeys = MOST_KEYS): RateLimiter {
  const windows = new Map<string, { used: number; endsAt: number }>()

  function windowOf(key: string, now: number) {
    const known = windows.get(key)
    return known && known.endsAt > now ? known : { used: 0, endsAt: now + WINDOW_MS }
  }

  const countOf = ({ used, endsAt }: { used: number; endsAt: number }, now: number): Count => ({
    left: limit - used,
    seconds: Math.ceil((endsAt - now) / 1000),
  })

  return {
    limit,
    peek(key) {
      const now = clock.now().getTime()
      return countOf(windowOf(key, now), now)
    },
    count(key) {
      const now = clock.now().getTime()
      const window = windowOf(key, now)
      window.used += 1
      // Moved to the end, so that the first key is the one counted longest ago.
      windows.delete(key)
      windows.set(key, window)
      if (windows.size > mostKeys) windows.delete(windows.keys().next().value!)
      return countOf(window, now)
    },
  }
}

type Leave = () => void

/** A semaphore for each group (a tenant): one tenant's slow queries do not use up the database connections of all. */
export interface FairShare {
  /** Takes a slot, at once where one is free, otherwise when it is the request's turn. Resolves to its release. */
  enter(group: string): Leave | Promise<Leave>
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
    // The slot is handed on, not given back, so that no newcomer takes it first.
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

/** Operators are a group of their own: their queries are the largest. */
export const groupOf = (caller: Pick<Caller, 'platformAdmin' | 'operator' | 'tenantId'>): string =>
  JSON.stringify(seesAllTenants(caller) ? null : caller.tenantId)

declare module 'fastify' {
  interface FastifyRequest {
    /** Releases the tenant's slot. */
    leave: Leave | undefined
  }
}

/**
 * The first of the preHandler hooks that wait. Callbacks, not async functions: they run for every request, and most have
 * nothing to wait for.
 */
export function installFairShare(app: FastifyInstance, share: FairShare): void {
  app.decorateRequest('leave', undefined)
  app.addHook('preHandler', (request, reply, done) => {
    if (!request.caller) return done()
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
  // Released when the response is ready, not when the client hangs up: the database may still be working for it.
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.leave?.()
    request.leave = undefined
    done(null, payload)
  })
}
