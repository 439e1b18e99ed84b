// SQL of the delivery workers: what is due is claimed for a while, and the holder of the claim records what came of it.
import { sql } from 'kysely'
import type { DeliveryOutcome } from '../../integrations/webhooks/index.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { StoredEvent } from './events.ts'
import type { EncryptedSecrets } from './webhook.ts'

export interface Claimed extends EncryptedSecrets, StoredEvent {
  id: string
  claim: string
  /** This one counted. */
  attempts: number
  webhook_id: string
  /** Whose webhook it is; null: the platform's. */
  owner_tenant_id: string | null
  /** The one tenant whose events it gets; null: all. */
  tenant_id: string | null
  url: string
  event_id: string
}

export interface Room {
  /** For so many altogether, */
  total: number
  /** for so many of each webhook and of all that one tenant has, */
  ofWebhook: number
  ofTenant: number
  /** less those that are under way. */
  underWay: readonly Pick<Claimed, 'webhook_id' | 'owner_tenant_id'>[]
}

// Kept prepared: every worker asks twice a second, and planning it takes a hundred times as long as finding nothing.
const CLAIM = {
  name: 'claim_deliveries',
  text: `with recursive waiting (webhook_id) as (
      (select webhook_id from webhook_deliveries where status = 'pending' order by webhook_id limit 1)
      union all
      -- From one to the next along the index, however much waits for each.
      select (select d.webhook_id from webhook_deliveries d where d.status = 'pending' and d.webhook_id > waiting.webhook_id
        order by d.webhook_id limit 1)
      from waiting where waiting.webhook_id is not null
    ), busy as (
      select * from unnest($1::uuid[], $2::text[]) as busy (webhook_id, owner)
    ), due as materialized (
      select d.id, d.due_at, w.id as webhook_id, w.owner_tenant_id as owner
      from waiting join webhooks w on w.id = waiting.webhook_id
      cross join lateral (
        select id, due_at from webhook_deliveries
        where webhook_id = w.id and status = 'pending' and due_at <= $3
        order by due_at, id
        limit greatest(0, $4::int - (select count(*) from busy b where b.webhook_id = w.id))
        for update skip locked
      ) d
      where w.enabled
    ), placed as (
      select id, due_at, owner, row_number() over (
        partition by coalesce(owner, webhook_id::text), owner is null order by due_at, id
      ) + (select count(*) from busy b where b.owner = due.owner or (due.owner is null and b.webhook_id = due.webhook_id))
        as place
      from due
    ), chosen as (
      select id from placed where owner is null or place <= $5::int
      order by place, due_at, id limit $6
    ), taken as (
      update webhook_deliveries d set claim = $7, due_at = $8, attempts = d.attempts + 1
      from chosen where d.id = chosen.id
      returning d.*
    )
    select t.id, t.claim, t.attempts, t.webhook_id, w.owner_tenant_id, w.tenant_id, w.url, w.secret,
      w.previous_secret, w.previous_secret_expires_at, t.event_id, e.type, e.occurred_at, e.data::text as data
    from taken t join webhooks w on w.id = t.webhook_id join webhook_events e on e.id = t.event_id
    order by t.id`,
}

/**
 * Takes what is due, as far as there is room. Until `until` nobody else takes it; afterwards its worker counts as dead.
 * Each webhook with anything pending is read by itself, so that one with a long queue does not hide the others, and
 * the webhooks of one tenant share its turns: first the first of each tenant and of each webhook of the platform, then the
 * second, those that are under way counted.
 */
export async function claimDue(
  executor: Executor,
  { total, ofWebhook, ofTenant, underWay }: Room,
  { claim, now, until }: { claim: string; now: string; until: string },
): Promise<Claimed[]> {
  const webhooks = underWay.map(({ webhook_id }) => webhook_id)
  const owners = underWay.map(({ owner_tenant_id }) => owner_tenant_id)
  const values = [webhooks, owners, now, ofWebhook, ofTenant, total, claim, until]
  return runStatement<Claimed>(executor, CLAIM, values)
}

export interface Attempt extends DeliveryOutcome {
  started_at: string
}

export type Verdict =
  | { status: 'delivered' }
  | { status: 'pending'; waitMs: number }
  /** `gone`: the receiver wants nothing any more. */
  | { status: 'failed'; gone: boolean }

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
