// The issuer's public keys: kept, renewed, and asked for again when a token names one that is not known. However many
// tokens come, there is one request at a time, and a few in a minute; while the issuer does not answer, the keys
// that are known go on for an hour.
import { createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { Logger } from 'pino'
import { unauthenticated, unavailable } from '../../kernel/errors.ts'
import { rateLimiter } from '../../kernel/http/rate-limits.ts'
import type { IssuerKeys } from '../../kernel/http/verify-token.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Clock } from '../../kernel/time.ts'
import type { KeySetSource } from './key-set.ts'

export interface IssuerKeysOptions {
  source: KeySetSource
  clock: Clock
  log: Logger
  metrics: Metrics
}

const MINUTE = 60_000
/** From this age on keys are renewed beside the requests, which go on with those that are known. */
const RENEWED_AFTER_MS = 5 * MINUTE
/** From this age on a request waits for the renewal: a key that the issuer took away is good for no longer. */
const TRUSTED_MS = 10 * MINUTE
/** As long as that when the issuer does not answer. */
const TRUSTED_IN_OUTAGE_MS = 60 * MINUTE
/** Enough for an issuer that changes its keys; however many unknown keys tokens name, there are no more requests. */
const REQUESTS_A_MINUTE = 5
/** After a failure: what `Retry-After` says. */
const PAUSE_AFTER_FAILURE_MS = 5_000
/** A failure this long ago says nothing of now. */
const OUTAGE_KNOWN_MS = MINUTE

interface KnownKeys {
  find: ReturnType<typeof createLocalJWKSet>
  text: string
  edition: number
  /** When they came. */
  at: number
}

export function createIssuerKeys({ source, clock, log, metrics }: IssuerKeysOptions) {
  let known: KnownKeys | undefined
  let underWay: Promise<void> | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let failed = false
  const requests = rateLimiter(REQUESTS_A_MINUTE, clock)

  const now = () => clock.now().getTime()
  // A clock that was set back makes nothing last.
  const since = (time: number) => Math.abs(now() - time)
  const age = () => since(known?.at ?? Number.NEGATIVE_INFINITY)
  const inOutage = () => failed && since(askedAt) < OUTAGE_KNOWN_MS
  const mustAsk = () => age() >= (inOutage() ? TRUSTED_IN_OUTAGE_MS : TRUSTED_MS)

  /** Never rejects; undefined when it is too early to ask again. */
  function renew(): Promise<void> | undefined {
    if (underWay) return underWay
    if (failed && since(askedAt) < PAUSE_AFTER_FAILURE_MS) return undefined
    if (requests.count('').left < 0) return undefined
    askedAt = now()
    underWay = ask().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  async function ask(): Promise<void> {
    try {
      const { keys, leftOut } = await source.fetch()
      keep({ keys }, leftOut)
      if (failed) log.info('the issuer’s keys can be fetched again')
      failed = false
    } catch (error) {
      // Once for an outage, not for every attempt.
      if (!failed) log.warn({ reason: (error as Error).message }, 'the issuer’s keys could not be fetched')
      failed = true
    }
    metrics.issuerKeyFetches.inc({ outcome: failed ? 'failed' : 'fetched' })
  }

  function keep(set: JSONWebKeySet, leftOut: string[]): void {
    const at = now()
    const text = JSON.stringify(set)
    if (known?.text === text) {
      known.at = at
      return
    }
    known = { find: createLocalJWKSet(set), text, edition: (known?.edition ?? 0) + 1, at }
    log.info({ keys: set.keys.map(({ kid }) => kid ?? null), left_out: leftOut }, 'the issuer’s keys are new')
  }

  const keys: IssuerKeys = {
    edition() {
      if (age() >= RENEWED_AFTER_MS) void renew()
      return mustAsk() ? undefined : known?.edition
    },

    async keyFor(header) {
      if (age() >= RENEWED_AFTER_MS) {
        const renewal = renew()
        if (mustAsk()) await renewal
      }
      if (!known || mustAsk()) throw away()
      const key = await keyIn(known, header)
      if (key) return { key, edition: known.edition }
      await renew()
      // It cannot be known whether the key is the issuer's.
      if (failed) throw away()
      const renewed = await keyIn(known, header)
      if (!renewed) throw unauthenticated('The token’s key is none of the issuer’s.')
      return { key: renewed, edition: known.edition }
    },
  }
  return {
    ...keys,
    /** Asks before the first token does, so that a wrong address is in the log at the start. */
    prepare: () => void renew(),
    close: () => source.close(),
  }
}

const away = () =>
  unavailable('The issuer’s keys cannot be fetched now, so that the token cannot be judged. Try again.')

type Found = Awaited<ReturnType<IssuerKeys['keyFor']>>['key']

/** Undefined: none is of that name and for that algorithm. */
async function keyIn(
  { find }: KnownKeys,
  { alg, kid }: Parameters<IssuerKeys['keyFor']>[0],
): Promise<Found | undefined> {
  try {
    return await find({ alg, kid })
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined
    if (error instanceof errors.JWKSMultipleMatchingKeys)
      throw unauthenticated('The token must name its key (`kid`): the issuer has several.')
    throw unauthenticated('The issuer’s key of that name cannot be used.')
  }
}
