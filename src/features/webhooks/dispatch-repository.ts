// SQL of the one who sends: what is due is claimed for a while, and what came of it is recorded by whoever has the claim.
import { sql } from 'kysely'
import type { Outcome } from '../../integrations/webhooks/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Verdict } from './after-attempt.ts'
import type { Keyring } from './webhook-secret.ts'

export interface Claimed extends Keyring {
  id: string
  claim: string
  /** This one counted. */
  attempts: number
  webhook_id: string
  url: string
  event_id: string
  type: string
  occurred_at: string
  /** JSON text. */
  data: string
}

export interface Room {
  /** For so many altogether, */
  total: number
  /** and for so many of each webhook, */
  each: number
  /** less those it has under way: webhook → how many. */
  underWay: ReadonlyMap<string, number>
}

/**
 * Takes what is due longest, as far as there is room. Until `until` nobody else takes it; afterwards its sender is thought
 * dead. Each webhook is looked at by itself, so that one with a long queue does not hide the others.
 */
export async function claimDue(
  executor: Executor,
  { total, each, underWay }: Room,
  { claim, now, until }: { claim: string; now: string; until: string },
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as (
      select d.id from webhooks w
      left join unnest(${[...underWay.keys()]}::uuid[], ${[...underWay.values()]}::int[]) as busy (id, count) on busy.id = w.id
      cross join lateral (
        select id, due_at from webhook_deliveries
        where webhook_id = w.id and status = 'pending' and due_at <= ${now}
        order by due_at, id limit greatest(0, ${each}::int - coalesce(busy.count, 0))
        for update skip locked
      ) d
      where w.enabled
      order by d.due_at, d.id limit ${total}
    ), taken as (
      update webhook_deliveries d set claim = ${claim}, due_at = ${until}, attempts = d.attempts + 1
      from due where d.id = due.id
      returning d.*
    )
    select t.id, t.claim, t.attempts, t.webhook_id, w.url, w.secret, w.previous_secret, w.previous_secret_expires_at,
      t.event_id, e.type, e.occurred_at, e.data::text as data
    from taken t join webhooks w on w.id = t.webhook_id join webhook_events e on e.id = t.event_id
    order by t.id`.execute(executor)
  return rows
}

export interface Attempt extends Outcome {
  started_at: string
}

/** False when another worker has the delivery by now, or it is gone: then nothing is written. */
export async function recordAttempt(
  executor: Executor,
  { id, claim }: Pick<Claimed, 'id' | 'claim'>,
  attempt: Attempt,
  verdict: Verdict,
  now: Date,
): Promise<boolean> {
  const at = now.toISOString()
  const next = verdict.status === 'pending' ? new Date(now.getTime() + verdict.waitMs).toISOString() : at
  const gone = verdict.status === 'failed' && verdict.gone
  const { rows } = await sql`
    with done as (
      update webhook_deliveries set status = ${verdict.status}, claim = null, due_at = ${next},
        finished_at = ${verdict.status === 'pending' ? null : at}
      where id = ${id} and claim = ${claim}
      returning id, webhook_id, attempts
    ), noted as (
      insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, error, response_body)
      select id, attempts, ${attempt.started_at}, ${attempt.duration_ms}, ${attempt.status_code}, ${attempt.error},
        ${attempt.response_body}
      from done
    ), closed as (
      update webhooks w set enabled = false, disabled_reason = ${GONE}, updated_at = ${at}
      from done where w.id = done.webhook_id and w.enabled and ${gone}::boolean
    )
    select id from done`.execute(executor)
  return rows.length > 0
}

const GONE = 'The receiver answered 410: it wants nothing any more.'

/** As if it had never been taken. */
export async function releaseDelivery(
  executor: Executor,
  { id, claim }: Pick<Claimed, 'id' | 'claim'>,
  now: string,
): Promise<void> {
  await sql`update webhook_deliveries set claim = null, due_at = ${now}, attempts = attempts - 1
    where id = ${id} and claim = ${claim}`.execute(executor)
}

export async function countPending(executor: Executor): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from webhook_deliveries where status = 'pending'`.execute(executor)
  return rows[0]!.count
}

/** With their deliveries. What is still to be sent stays, unless its webhook has been switched off. */
export async function deleteEventsBefore(executor: Executor, before: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_events e where occurred_at < ${before} and not exists (
      select from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where d.event_id = e.id and d.status = 'pending' and w.enabled)`.execute(executor)
  return Number(numAffectedRows ?? 0n)
}
