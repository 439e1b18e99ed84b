// SQL of the feed: how far the provider's actions were followed, what kinds are due to be listed, what looking has cost.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Position } from './actions-since.ts'
import type { Spent } from './look-budget.ts'
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

/** How far the actions have been followed. */
export async function feedPosition(executor: Executor): Promise<Position> {
  const { rows } = await sql<{ newest_id: number | null; open: number[] }>`
    select newest_id, array(select action_id from open_actions) as open from action_feed where provider = ${PROVIDER}`.execute(
    executor,
  )
  const [row] = rows
  return { newestId: row?.newest_id ?? null, open: new Set(row?.open.map(Number)) }
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
  await keepOpen(tx, at, open)
}

/** These are to be asked for again. */
export async function keepOpen(executor: Executor, at: string, open: number[]): Promise<void> {
  if (open.length === 0) return
  await sql`
    insert into open_actions (action_id, read_at) select id, ${at} from unnest(${open}::bigint[]) id
    on conflict do nothing`.execute(executor)
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
  /** Pages of its last whole listing. */
  pages: number
  due: boolean
  /** When it was last listed whole; null: never. */
  looked_at: string | null
}

/** Every kind that is to be listed between the sweeps, the one that has waited longest first. New ones are due. */
export async function kindTurns(tx: Executor, kinds: readonly string[], at: string): Promise<KindTurn[]> {
  await sql`
    insert into kind_looks (kind, due_at) select kind, ${at} from unnest(${[...kinds]}::text[]) kind
    on conflict do nothing`.execute(tx)
  const { rows } = await sql<KindTurn>`
    select kind, requests as pages, due_at <= ${at} as due, looked_at from kind_looks where kind = any(${[...kinds]}::text[])
    order by due_at, kind`.execute(tx)
  return rows
}

/** From this moment on, if not before; but not so long, for each of their pages, after they were last listed. */
export async function makeDue(
  tx: Executor,
  kinds: readonly string[],
  at: string,
  notWithinMs = 0,
): Promise<void> {
  await sql`
    update kind_looks set due_at = least(due_at,
      greatest(${at}::timestamptz, looked_at + requests * ${notWithinMs} * interval '1 millisecond'))
    where kind = any(${[...kinds]}::text[])`.execute(tx)
}

export async function noteTurn(
  executor: Executor,
  kind: string,
  turn: { at: string; pages: number; dueAt: string },
): Promise<void> {
  await sql`
    update kind_looks set looked_at = ${turn.at}, requests = ${Math.max(1, turn.pages)}, due_at = ${turn.dueAt}
    where kind = ${kind}`.execute(executor)
}

/** After a listing that was not whole: what is known of the last one stays, unless it has more pages. */
export async function putOffTurn(executor: Executor, kind: string, dueAt: string, pages = 0): Promise<void> {
  await sql`
    update kind_looks set due_at = ${dueAt}, requests = greatest(requests, ${pages}::int) where kind = ${kind}`.execute(
    executor,
  )
}

/** Requests are counted by so many seconds: the provider's shortest window is a minute, and what reaches into it counts. */
const SLOT_MS = 5_000

/** What looking has cost in the last hour: by its seconds, and by its minutes where that is long ago. */
export async function listSpent(executor: Executor, now: Date): Promise<Spent[]> {
  const before = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const { rows } = await sql<Spent>`
    select max(minute) + ${SLOT_MS} * interval '1 millisecond' as until, sum(requests)::int as requests
    from look_requests where minute >= ${before(3_660_000)}
    group by case when minute >= ${before(120_000)} then minute else date_trunc('minute', minute) end`.execute(
    executor,
  )
  return rows
}

export async function noteSpent(executor: Executor, now: Date, requests: number): Promise<void> {
  if (requests === 0) return
  const slot = new Date(Math.floor(now.getTime() / SLOT_MS) * SLOT_MS).toISOString()
  const old = new Date(now.getTime() - 7_200_000).toISOString()
  await sql`
    insert into look_requests as l (minute, requests) values (${slot}, ${requests})
    on conflict (minute) do update set requests = l.requests + excluded.requests`.execute(executor)
  await sql`delete from look_requests where minute < ${old}`.execute(executor)
}

/** The kinds that a sweep is listing right now. */
export async function sweptNow(executor: Executor): Promise<Set<string>> {
  const { rows } = await sql<{ kind: string }>`select kind from sync_runs where status = 'running'`.execute(
    executor,
  )
  return new Set(rows.map(({ kind }) => kind))
}
