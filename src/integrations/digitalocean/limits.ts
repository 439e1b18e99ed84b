// Every bound of the provider client in one place: how fast, how long, how often, how much.
// The rates are the provider's own, per token (see specification/NOTICE.md for where they come from).

export interface Rate {
  requests: number
  windowMs: number
}

export interface Limits {
  /** Both hold at once; a request waits for the stricter one. */
  rates: readonly Rate[]
  /** Endpoints with a limit of their own, on top of the rates above. */
  endpointRates: Readonly<Record<string, Rate>>
  /** The longest wait a job may hold; past it the call throws ProviderBusyError. */
  maxWaitMs: number
  /** One attempt: headers and body together. */
  requestTimeoutMs: number
  /** One call with all its attempts and waits. */
  callDeadlineMs: number
  /** One listing with all its pages. */
  listingDeadlineMs: number
  /** Attempts of a read. A write has exactly one. */
  attempts: number
  backoffBaseMs: number
  backoffCapMs: number
  perPage: number
  maxPages: number
  /** A JSON answer larger than this is refused rather than held in memory. */
  maxBodyBytes: number
  /** What a file that comes compressed may unfold to. It is asked for uncompressed, where its own length bounds it. */
  maxUnfoldedBytes: number
  /** The first pause between two looks at something in motion, how it grows, and the longest. */
  pollBaseMs: number
  pollGrowth: number
  pollCapMs: number
  /** How long a write that got no answer is looked for before it counts as not done. */
  settleMs: number
  /** How long one that should have shown by now is looked for once more. */
  recheckMs: number
  /** How long trouble that passes is borne where nothing else bounds it. */
  troubleMs: number
  /** How long a droplet may take to be active, and to be gone. */
  bootMs: number
  destroyMs: number
}

export const defaultLimits: Limits = {
  rates: [
    { requests: 5_000, windowMs: 3_600_000 },
    { requests: 250, windowMs: 60_000 },
  ],
  endpointRates: { '/v2/account/keys': { requests: 10, windowMs: 60_000 } },
  maxWaitMs: 60_000,
  requestTimeoutMs: 30_000,
  callDeadlineMs: 120_000,
  listingDeadlineMs: 600_000,
  attempts: 5,
  backoffBaseMs: 500,
  backoffCapMs: 20_000,
  perPage: 200,
  maxPages: 10_000,
  maxBodyBytes: 64 * 1024 * 1024,
  maxUnfoldedBytes: 256 * 1024 * 1024,
  pollBaseMs: 1_000,
  pollGrowth: 1.5,
  pollCapMs: 10_000,
  settleMs: 15_000,
  recheckMs: 5_000,
  troubleMs: 120_000,
  bootMs: 600_000,
  destroyMs: 300_000,
}
