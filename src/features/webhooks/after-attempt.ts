// What becomes of a delivery after an attempt: done, tried again later, or given up.
import type { DeliveryOutcome } from '../../integrations/webhooks/index.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long to wait after the first attempt, the second, and so on: about three days in all. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]

/** A tenth more or less, so that what failed together does not come back together. */
const JITTER = 0.1

export type Verdict =
  | { status: 'delivered' }
  | { status: 'pending'; waitMs: number }
  /** `gone`: the receiver wants nothing any more. */
  | { status: 'failed'; gone: boolean }

/** `attempts` counts this one; `random` is from 0 to 1. */
export function afterAttempt(
  { status_code }: Pick<DeliveryOutcome, 'status_code'>,
  attempts: number,
  random: number,
): Verdict {
  if (status_code !== null && status_code >= 200 && status_code < 300) return { status: 'delivered' }
  if (status_code === 410) return { status: 'failed', gone: true }
  const wait = WAITS[attempts - 1]
  if (wait === undefined) return { status: 'failed', gone: false }
  return { status: 'pending', waitMs: Math.round(wait * (1 - JITTER + 2 * JITTER * random)) }
}
