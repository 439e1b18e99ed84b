// Sends what is due. Each delivery is claimed in the database, sent outside of any transaction, and what came of it is
// written down. A sender that dies leaves its claims, which run out: an event is delivered at least once.

import { randomUUID } from 'node:crypto'
import type { Deps } from '../../deps.ts'
import type { DeliveryOutcome } from '../../integrations/webhooks/index.ts'
import { afterAttempt } from './after-attempt.ts'
import { type Claimed, claimDue, recordAttempt, releaseDelivery } from './dispatch-repository.ts'
import { dataFor } from './event-for-tenant.ts'
import { signingSecrets } from './webhook-secret.ts'

/** A slow receiver holds up a few, never all, and a tenant with ten of them no more than one with two. */
const MOST_UNDER_WAY = 40
const MOST_OF_ONE_WEBHOOK = 4
const MOST_OF_ONE_TENANT = 6
/** Longer than an attempt and its recording can take. */
const CLAIM_MS = 60_000

export interface Courier {
  /** Takes what is due and there is room for, and resolves to the deliveries that are now under way. */
  takeDue(): Promise<Promise<void>[]>
}

export function createCourier(deps: Deps): Courier {
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
  const sent = await createCourier(deps).takeDue()
  await Promise.all(sent)
  return sent.length
}

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
  const { webhook_id, url, event_id, type, occurred_at } = delivery
  const data = dataFor(delivery.hears_of, type, delivery.data)
  let secrets: string[]
  try {
    secrets = signingSecrets(webhookEncryption, webhook_id, delivery, now)
  } catch {
    const error = 'the secret cannot be read: SECRET_KEY has changed; rotate the webhook’s secret'
    return { status_code: null, error, response_body: null, duration_ms: 0 }
  }
  const body = `{"type":${JSON.stringify(type)},"timestamp":"${occurred_at}","data":${data}}`
  const timestamp = Math.floor(now.getTime() / 1000)
  return webhookSender.send({ id: event_id, timestamp, body, url, secrets }, jobs.ending)
}
