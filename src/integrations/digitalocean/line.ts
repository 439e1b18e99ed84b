// A token's line to the provider: the exchange that carries the token, and the pace at which the provider lets it ask.
import type { Clock } from './clock.ts'
import { createExchange, type Exchange, type ExchangeOptions } from './exchange.ts'
import type { Limits } from './limits.ts'
import { createPace, type Pace } from './pace.ts'

export interface Line {
  exchange: Exchange
  pace: Pace
}

export interface LineOptions extends ExchangeOptions {
  clock: Clock
  limits: Limits
  /** Clients of one token share one. */
  pace?: Pace
}

export const createLine = ({ clock, limits, pace, ...options }: LineOptions): Line => ({
  exchange: createExchange(options),
  pace: pace ?? createPace(clock, limits),
})
