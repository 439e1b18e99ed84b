// Who may ask, and how often. Strangers are counted by their address: once it has failed too often, an API key from it
// is not looked up any more, unless it was good before, and whatever else fails is told to wait instead of why. Callers
// are counted by who they are, refused requests among the others.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import type { Clock } from '../time.ts'
import { API_KEY_PREFIX, authenticate, type Door } from './authenticate.ts'
import type { Identity } from './caller.ts'
import { addressOf, networkOf } from './client-address.ts'
import { type Count, type RateLimiter, rateLimiter } from './rate-limiter.ts'

export interface RateLimits {
  /** The caller of a request that may go on; throws what it is refused with. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<Identity>
  /** For what strangers may ask. */
  admitStranger(request: FastifyRequest, reply: FastifyReply): void
}

export interface RateLimitOptions {
  /** Requests a minute for a caller; 0: without limit. */
  perCaller: number
  /** Failed authentications a minute for an address; 0: without limit. */
  failuresPerAddress: number
  clock: Clock
}

const MOST_KNOWN = 10_000
const KEY_IN_HEADER = new RegExp(`^bearer +${API_KEY_PREFIX}`, 'i')

export function rateLimits(
  door: Door,
  { perCaller, failuresPerAddress, clock }: RateLimitOptions,
): RateLimits {
  const callers = perCaller > 0 ? rateLimiter(perCaller, clock) : undefined
  const strangers = perCaller > 0 ? rateLimiter(perCaller, clock) : undefined
  const failures = failuresPerAddress > 0 ? rateLimiter(failuresPerAddress, clock) : undefined
  const goodKeys = recentlyGood()

  async function authenticated(request: FastifyRequest, reply: FastifyReply): Promise<Identity> {
    const address = networkOf(addressOf(request))
    const { authorization = '' } = request.headers
    const isKey = KEY_IN_HEADER.test(authorization)
    const blocked = failures?.look(address)
    if (isKey && blocked && blocked.left <= 0 && !goodKeys.has(authorization)) throw tooMany(reply, blocked)
    try {
      const caller = await authenticate(request, door)
      if (isKey) goodKeys.add(authorization)
      return caller
    } catch (error) {
      if (!failures || !isRefusal(error)) throw error
      const count = failures.count(address)
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
      spend(callers, callerKey(caller), reply)
      return caller
    },
    admitStranger: (request, reply) => spend(strangers, networkOf(addressOf(request)), reply),
  }
}

/** Written so that no tenant and user can be taken for two others, whatever their names hold. */
export const callerKey = ({ tenantId, sub }: Pick<Identity, 'tenantId' | 'sub'>): string =>
  JSON.stringify([tenantId, sub])

const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && (error.kind === 'unauthenticated' || error.kind === 'forbidden')

function tooMany(reply: FastifyReply, { seconds }: Count): AppError {
  reply.header('retry-after', seconds)
  return new AppError('rate_limited', 'rate_limited', `Too many requests. Go on in ${seconds} seconds.`)
}

/** The latest credentials that were good, by their hashes: who shares an address with a guesser is no guesser. */
function recentlyGood() {
  const hashes = new Set<string>()
  const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')
  return {
    has: (credential: string) => hashes.has(hashOf(credential)),
    add(credential: string) {
      const hash = hashOf(credential)
      hashes.delete(hash)
      hashes.add(hash)
      if (hashes.size > MOST_KNOWN) hashes.delete(hashes.values().next().value!)
    },
  }
}
