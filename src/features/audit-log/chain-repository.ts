// SQL of the chain: what is not in it yet, its end, and its links in order.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { BEGINNING, type Link, type StoredLink } from './chain.ts'
import { ENTRY_TEXT } from './repository.ts'

// Any constant will do, as long as every node takes the same one.
const LOCK_KEY = 4_005_016

/** Sealers take turns, on however many nodes. */
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
export async function newestSealed(tx: Executor): Promise<string | undefined> {
  const { rows } = await sql<{ entry_id: string }>`
    select entry_id from audit_seals order by entry_id desc limit 1`.execute(tx)
  return rows[0]?.entry_id
}

/** Entries behind this id that have no place yet; both tables are entered where the id is. */
export async function listUnsealed(
  tx: Executor,
  after: string,
  limit: number,
): Promise<{ id: string; text: string }[]> {
  const { rows } = await sql<{ id: string; text: string }>`
    select e.id, ${sql.raw(ENTRY_TEXT)} as text from audit_log e
    where e.id > ${after}
      and not exists (select 1 from audit_seals s where s.entry_id = e.id and s.entry_id > ${after})
    order by e.id limit ${limit}`.execute(tx)
  return rows
}

/** Puts the entries at the end of the chain. */
export async function insertSeals(tx: Executor, seals: (Link & { entry_id: string })[]): Promise<void> {
  await sql`
    insert into audit_seals (seq, entry_id, hash)
    select seq, entry_id, hash from jsonb_to_recordset(${JSON.stringify(seals)}::jsonb)
      as s (seq bigint, entry_id uuid, hash text)`.execute(tx)
}

/** The links behind this one, as far as the end that is given. */
export async function listLinks(
  executor: Executor,
  after: number,
  end: number,
  limit: number,
): Promise<StoredLink[]> {
  const { rows } = await sql<StoredLink>`
    select s.seq, s.hash, case when e.id is not null then ${sql.raw(ENTRY_TEXT)} end as text
    from audit_seals s left join audit_log e on e.id = s.entry_id
    where s.seq > ${after} and s.seq <= ${end} order by s.seq limit ${limit}`.execute(executor)
  return rows
}
