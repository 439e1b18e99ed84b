// Sends what is due. Each delivery is claimed in the database, sent outside of any transaction, and its outcome recorded.
// A worker that dies leaves its claims, which run out: an event is delivered at least once.
import { randomUUID } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import type { DeliveryOutcome } from '../../integrations/webhooks/index.ts'
import {
  type Claimed,
  claimDue,
  deleteEventsBefore,
  recordAttempt,
  releaseDelivery,
  type Verdict,
} from './delivery-store.ts'
import { messageFor } from './events.ts'
import { signingSecrets } from './webhook.ts'

/** A slow receiver holds up a few, never all, and a tenant with ten of them no more than one with two. */
const MOST_UNDER_WAY = 40
const MOST_OF_ONE_WEBHOOK = 4
const MOST_OF_ONE_TENANT = 6
/** Longer than an attempt and its recording can take. */
const CLAIM_MS = 60_000

const POLL_MS = 1_000
const KEEP_DAYS = 30

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

/** What becomes of a delivery. `attempts` counts this one; `random` is from 0 to 1. */
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

export interface DeliveryWorker {
  /** Takes what is due and there is room for, and resolves to the deliveries that are now under way. */
  takeDue(): Promise<Promise<void>[]>
}

export function createDeliveryWorker(deps: Deps): DeliveryWorker {
  const underWay = new Set<Claimed>()

  return {
    async takeDue() {
      const total = MOST_UNDER_WAY - underWay.size
      if (total === 0) return []
      const now = deps.clock.now()
      const until = new Date(now.getTime() + CLAIM_MS).toISOString()
      const claim = { claim: randomUUID(), now: now.toISOString(), until }
      const claimed = await claimDue(
        deps.db,
        { total, ofWebhook: MOST_OF_ONE_WEBHOOK, ofTenant: MOST_OF_ONE_TENANT, underWay: [...underWay] },
        claim,
      )
      return claimed.map(delivery => {
        underWay.add(delivery)
        return deliver(deps, delivery).finally(() => underWay.delete(delivery))
      })
    },
  }
}

/** One round: how many were sent. */
export async function deliverDue(deps: Deps): Promise<number> {
  const sent = await createDeliveryWorker(deps).takeDue()
  await Promise.all(sent)
  return sent.length
}

/** Delivers until the process is told to stop: polls each second, and at once when a delivery is done. */
export function runDeliveries(deps: Deps): void {
  const { jobs, log } = deps
  const worker = createDeliveryWorker(deps)
  let polling = false
  let again = false

  function poll(): void {
    if (jobs.leaving.aborted) return
    if (polling) again = true
    else jobs.background(takeAll())
  }

  async function takeAll(): Promise<void> {
    polling = true
    try {
      do {
        again = false
        for (const sent of await worker.takeDue()) jobs.background(sent.finally(poll))
      } while (again && !jobs.leaving.aborted)
    } catch (error) {
      log.warn({ err: error }, 'the outbox of webhooks could not be read')
    } finally {
      polling = false
    }
  }

  const timer = setInterval(poll, POLL_MS).unref()
  jobs.leaving.addEventListener('abort', () => clearInterval(timer), { once: true })
}

/** A piece of the housekeeping: events go after 30 days, with the record of their deliveries. */
export const forgetWebhookEvents = ({ db, clock }: Pick<Deps, 'db' | 'clock'>) => ({
  what: `webhook events older than ${KEEP_DAYS} days`,
  run: () => deleteEventsBefore(db, new Date(clock.now().getTime() - KEEP_DAYS * 24 * HOUR).toISOString()),
})

async function deliver(deps: Deps, delivery: Claimed): Promise<void> {
  const { db, clock, jobs, metrics } = deps
  const { id, webhook_id, event_id, type, attempts } = delivery
  const log = deps.log.child({ webhook_id, delivery_id: id, event_id, event_type: type, attempt: attempts })
  const started = clock.now()
  let outcome: DeliveryOutcome
  try {
    outcome = await send(deps, delivery, started)
  } catch (error) {
    if (!jobs.ending.aborted) throw error
    await releaseDelivery(db, delivery, clock.now().toISOString())
    return log.info('webhook put down: this process is stopping')
  }
  const verdict = afterAttempt(outcome, attempts, Math.random())
  const attempt = { ...outcome, started_at: started.toISOString() }
  if (!(await recordAttempt(db, delivery, attempt, verdict, clock.now())))
    return log.warn('webhook sent, but its delivery was taken over meanwhile or is gone')
  metrics.webhookDeliveries.inc({ outcome: verdict.status === 'pending' ? 'retried' : verdict.status })
  const { status_code, error, duration_ms } = outcome
  const said = { status_code, error, duration_ms }
  if (verdict.status === 'delivered') log.debug(said, 'webhook delivered')
  else if (verdict.status === 'pending')
    log.info({ ...said, retry_in_ms: verdict.waitMs }, 'webhook not taken')
  else log.warn(said, verdict.gone ? 'webhook switched off: its receiver is gone' : 'webhook given up')
}

async function send(deps: Deps, delivery: Claimed, now: Date): Promise<DeliveryOutcome> {
  const { webhookEncryption, webhookSender, jobs } = deps
  const { webhook_id, url, event_id } = delivery
  let secrets: string[]
  try {
    secrets = signingSecrets(webhookEncryption, webhook_id, delivery, now)
  } catch {
    const error = 'the secret cannot be read: SECRET_KEY has changed; rotate the webhook’s secret'
    return { status_code: null, error, response_body: null, duration_ms: 0 }
  }
  const body = messageFor(delivery.tenant_id, delivery)
  const timestamp = Math.floor(now.getTime() / 1000)
  return webhookSender.send({ id: event_id, timestamp, body, url, secrets }, jobs.ending)
}
