// SQL of the feed: how far the provider's actions were followed, what kinds are due to be listed, what looking has cost.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { SpentMinute } from './look-budget.ts'
import { PROVIDER } from './resource.ts'

export interface FeedPosition {
  /** Null before the first. */
  newest_id: number | null
}

/** Whoever moves the claim on may look now; undefined when somebody has just done so. */
export async function claimFeed(
  executor: Executor,
  now: Date,
  atMostEveryMs: number,
): Promise<FeedPosition | undefined> {
  const at = now.toISOString()
  const before = new Date(now.getTime() - atMostEveryMs).toISOString()
  const { rows } = await sql<FeedPosition>`
    insert into action_feed as f (provider, claimed_at) values (${PROVIDER}, ${at})
    on conflict (provider) do update set claimed_at = excluded.claimed_at
    where f.claimed_at is null or f.claimed_at <= ${before}
    returning newest_id`.execute(executor)
  return rows[0]
}

/** Moves the position on, together with the actions that are to be asked for again. It never moves back. */
export async function moveFeed(
  tx: Executor,
  at: string,
  { newestId, open, ended }: { newestId: number | null; open: number[]; ended: number[] },
): Promise<void> {
  await sql`
    update action_feed set newest_id = greatest(newest_id, ${newestId}::bigint), followed_at = ${at}, error = null
    where provider = ${PROVIDER}`.execute(tx)
  await sql`delete from open_actions where action_id = any(${ended}::bigint[])`.execute(tx)
  await sql`
    insert into open_actions (action_id, read_at) select id, ${at} from unnest(${open}::bigint[]) id
    on conflict do nothing`.execute(tx)
}

export async function noteFeedError(executor: Executor, error: string): Promise<void> {
  await sql`update action_feed set error = ${error.slice(0, 1_000)} where provider = ${PROVIDER}`.execute(
    executor,
  )
}

/** Those that were under way, oldest first; what has been for longer than a day is given up. */
export async function openActions(tx: Executor, now: Date): Promise<number[]> {
  const dayAgo = new Date(now.getTime() - 86_400_000).toISOString()
  await sql`delete from open_actions where read_at < ${dayAgo}`.execute(tx)
  const { rows } = await sql<{ action_id: number }>`
    select action_id from open_actions order by action_id`.execute(tx)
  return rows.map(row => row.action_id)
}

export interface KindTurn {
  kind: string
  requests: number
  due: boolean
}

/** Every kind that is to be listed between the sweeps, the one that has waited longest first. New ones are due. */
export async function kindTurns(tx: Executor, kinds: readonly string[], at: string): Promise<KindTurn[]> {
  await sql`
    insert into kind_looks (kind, due_at) select kind, ${at} from unnest(${[...kinds]}::text[]) kind
    on conflict do nothing`.execute(tx)
  const { rows } = await sql<KindTurn>`
    select kind, requests, due_at <= ${at} as due from kind_looks where kind = any(${[...kinds]}::text[])
    order by due_at, kind`.execute(tx)
  return rows
}

export async function makeDue(tx: Executor, kinds: readonly string[], at: string): Promise<void> {
  await sql`
    update kind_looks set due_at = least(due_at, ${at}::timestamptz) where kind = any(${[...kinds]}::text[])`.execute(
    tx,
  )
}

export async function noteTurn(
  executor: Executor,
  kind: string,
  turn: { at: string; requests: number; dueAt: string },
): Promise<void> {
  await sql`
    update kind_looks set looked_at = ${turn.at}, requests = ${Math.max(1, turn.requests)}, due_at = ${turn.dueAt}
    where kind = ${kind}`.execute(executor)
}

/** What looking has cost in the last hour, and a minute more. */
export async function spentMinutes(executor: Executor, now: Date): Promise<SpentMinute[]> {
  const from = new Date(now.getTime() - 3_660_000).toISOString()
  const { rows } = await sql<SpentMinute>`
    select minute, requests from look_requests where minute >= ${from}`.execute(executor)
  return rows
}

export async function noteSpent(executor: Executor, now: Date, requests: number): Promise<void> {
  if (requests === 0) return
  const minute = new Date(Math.floor(now.getTime() / 60_000) * 60_000).toISOString()
  const old = new Date(now.getTime() - 7_200_000).toISOString()
  await sql`
    insert into look_requests as l (minute, requests) values (${minute}, ${requests})
    on conflict (minute) do update set requests = l.requests + excluded.requests`.execute(executor)
  await sql`delete from look_requests where minute < ${old}`.execute(executor)
}

/** Whether a sweep of some kind is under way. */
export async function isSweeping(executor: Executor): Promise<boolean> {
  const { rows } = await sql`select 1 from sync_runs where status = 'running' limit 1`.execute(executor)
  return rows.length > 0
}
