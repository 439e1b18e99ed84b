// SQL of the audit log as it is shown, of its chain, and of the chain's checkpoints. `kernel/audit.ts` writes the entries.
import { sql } from 'kysely'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { columnsOf, jsonOf } from '../../kernel/noun.ts'
import { AuditEntry, HASHED_TEXT } from './audit-entry.ts'
import { BEGINNING, type Break, type KeyedLink, type Link, type StoredLink } from './chain.ts'
import { type Checkpoint, CheckpointDocument } from './checkpoint.ts'

const SELECT_ENTRIES = `select e.id, ${jsonOf(AuditEntry, 'e')}::text as json
  from audit_log e left join audit_seals s on s.entry_id = e.id`

const FILTERS = [
  'actor',
  'operation',
  'subject_type',
  'subject_id',
  'tenant_id',
  'request_id',
  'client_request_id',
  'credential_id',
] as const

export interface EntryFilter extends Partial<Record<(typeof FILTERS)[number], string>> {
  /** Ids: the first that is shown, and the first that is not. */
  from?: string | undefined
  to?: string | undefined
}

/** Newest first. */
export function listEntries(
  executor: Executor,
  filter: EntryFilter,
  limit: number,
  after: Key | null,
): Promise<{ id: string; json: string }[]> {
  const equal = FILTERS.map(column => [column, [`e.${column} = ?`, filter[column]] as const])
  return listPage(executor, {
    name: 'audit_log',
    select: SELECT_ENTRIES,
    filters: { ...Object.fromEntries(equal), from: ['e.id >= ?', filter.from], to: ['e.id < ?', filter.to] },
    orderBy: ['e.id'],
    descending: true,
    after,
    limit,
  })
}

/** The entry as JSON text. */
export async function findEntry(executor: Executor, id: string): Promise<string | undefined> {
  const statement = { name: 'audit_log_entry', text: `${SELECT_ENTRIES} where e.id = $1` }
  return (await runStatement<{ json: string }>(executor, statement, [id]))[0]?.json
}

// Any constant will do, as long as every node takes the same one.
const LOCK_KEY = 4_005_016

/** Whoever adds links takes turns, on however many nodes. */
export async function lockChain(tx: Executor): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_KEY})`.execute(tx)
}

export async function findHead(executor: Executor): Promise<Link> {
  const { rows } = await sql<Link>`
    select seq, hash from audit_seals order by seq desc limit 1`.execute(executor)
  return rows[0] ?? BEGINNING
}

export async function findLink(executor: Executor, seq: number): Promise<Link | undefined> {
  return executor.selectFrom('audit_seals').select(['seq', 'hash']).where('seq', '=', seq).executeTakeFirst()
}

/** The newest entry in the chain; undefined when it is empty. */
export async function newestChained(tx: Executor): Promise<string | undefined> {
  const { rows } = await sql<{ entry_id: string }>`
    select entry_id from audit_seals order by entry_id desc limit 1`.execute(tx)
  return rows[0]?.entry_id
}

/** Entries after this id that are not in the chain yet; both indexes are entered at the id. */
export async function listUnchained(
  tx: Executor,
  after: string,
  limit: number,
): Promise<{ id: string; text: string }[]> {
  const { rows } = await sql<{ id: string; text: string }>`
    select e.id, ${sql.raw(HASHED_TEXT)} as text from audit_log e
    where e.id > ${after}
      and not exists (select 1 from audit_seals s where s.entry_id = e.id and s.entry_id > ${after})
    order by e.id limit ${limit}`.execute(tx)
  return rows
}

/** At the end of the chain. */
export async function insertLinks(tx: Executor, links: (KeyedLink & { entry_id: string })[]): Promise<void> {
  await sql`
    insert into audit_seals (seq, entry_id, hash, key_id, mac, checkpoint)
    select seq, entry_id, hash, key_id, mac, checkpoint from jsonb_to_recordset(${JSON.stringify(links)}::jsonb)
      as s (seq bigint, entry_id uuid, hash text, key_id text, mac text, checkpoint bigint)`.execute(tx)
}

/** The links behind this one, as far as the end that is given. */
export async function listLinks(
  executor: Executor,
  after: number,
  end: number,
  limit: number,
): Promise<(StoredLink & KeyedLink)[]> {
  const { rows } = await sql<StoredLink & KeyedLink>`
    select s.seq, s.hash, s.key_id, s.mac, s.checkpoint, case when e.id is not null then ${sql.raw(HASHED_TEXT)} end as text
    from audit_seals s left join audit_log e on e.id = s.entry_id
    where s.seq > ${after} and s.seq <= ${end} order by s.seq limit ${limit}`.execute(executor)
  return rows
}

/** How many links are of entries from before the chain had a key. */
export async function countUnkeyed(tx: Executor): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from audit_seals s join audit_unkeyed u on s.entry_id <= u.newest`.execute(
    tx,
  )
  return rows[0]!.count
}

const checkpoints = (executor: Executor) => executor.selectFrom('audit_checkpoints').selectAll()

export const newestCheckpoint = (executor: Executor): Promise<Checkpoint | undefined> =>
  checkpoints(executor).orderBy('number', 'desc').limit(1).executeTakeFirst()

export const findCheckpoint = (executor: Executor, number: number): Promise<Checkpoint | undefined> =>
  checkpoints(executor).where('number', '=', number).executeTakeFirst()

export const checkpointsAfter = (executor: Executor, number: number, limit: number): Promise<Checkpoint[]> =>
  checkpoints(executor).where('number', '>', number).orderBy('number').limit(limit).execute()

/** Newest first. */
export const listCheckpoints = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<Checkpoint[]> =>
  listPage(executor, {
    name: 'audit_checkpoints',
    select: `select ${columnsOf(CheckpointDocument).join(', ')} from audit_checkpoints`,
    orderBy: ['number'],
    descending: true,
    after,
    limit,
  })

export async function insertCheckpoint(tx: Executor, checkpoint: Checkpoint): Promise<void> {
  await tx
    .insertInto('audit_checkpoints')
    .values({ ...checkpoint, published_at: null })
    .execute()
}

export const unpublishedCheckpoints = (executor: Executor, limit: number): Promise<Checkpoint[]> =>
  checkpoints(executor).where('published_at', 'is', null).orderBy('number').limit(limit).execute()

export async function markPublished(executor: Executor, number: number, at: string): Promise<void> {
  await executor
    .updateTable('audit_checkpoints')
    .set({ published_at: at })
    .where('number', '=', number)
    .execute()
}

/** Checkpoints and links that do not fit each other: the first of them. */
export async function firstMisfit(executor: Executor): Promise<Break | undefined> {
  const { rows } = await sql<Break>`
    (select c.seq as broken_at, case when s.seq is null
        then 'the chain ends before checkpoint ' || c.number else 'the link is not the one of checkpoint ' || c.number end as reason
      from audit_checkpoints c left join audit_seals s on s.seq = c.seq
      where s.hash is distinct from c.hash order by c.number limit 1)
    union all
    (select s.seq, 'checkpoint ' || s.checkpoint || ' is missing'
      from audit_seals s left join audit_checkpoints c on c.number = s.checkpoint and c.seq = s.seq
      where s.checkpoint is not null and c.number is null order by s.seq limit 1)
    order by broken_at limit 1`.execute(executor)
  return rows[0]
}
