// How code writes entries of the audit log, where the database's triggers (migrations/0016_audit_log.sql) do not.
import { sql } from 'kysely'
import { ACTOR_SETTING, type Acting, actingNow } from './acting.ts'
import type { Executor } from './db/tables.ts'
import { newId } from './ids.ts'
import { processTime } from './time.ts'

/** The first columns of an entry: which it is, and who was acting. */
const START = `audit_id(millis), to_timestamp(millis / 1000.0), who ->> 'actor', who ->> 'role', who ->> 'tenant_id',
  who ->> 'request_id', who ->> 'operation'`

/** The last columns: by which credential, from where, and what the caller calls it. */
const END = `who ->> 'credential_kind', who ->> 'credential_id', who ->> 'address', who ->> 'client_request_id'`

/** Who is acting, from the setting; null: nobody. */
const ACTING = `(
  select nullif(current_setting('${ACTOR_SETTING}', true), '')::jsonb as who,
    floor(extract(epoch from clock_timestamp()) * 1000)::bigint as millis
  offset 0) acting`

export interface Act {
  /** What was acted on: a table's name, where there is one. */
  subjectType: string
  subjectId: string
  tenantId?: string | null
  /** What was asked for, where the operation's name does not say it all. Never a secret. */
  details?: Record<string, unknown>
}

/**
 * Some of what callers ask for changes no row that the log watches: a job is queued, and that is all. Whoever does such a
 * thing says so here, in the same transaction. When nobody is acting, nothing is recorded.
 */
export async function recordAct(
  tx: Executor,
  { subjectType, subjectId, tenantId = null, details }: Act,
): Promise<void> {
  const after = details ? JSON.stringify(details) : null
  await sql`
    insert into audit_log
    select ${sql.raw(START)}, ${subjectType}, ${subjectId}, ${tenantId}, 'requested', null, ${after}::jsonb, ${sql.raw(END)}
    from ${sql.raw(ACTING)} where who is not null`.execute(tx)
}

/** A row that belongs to a tenant. */
type Owned = { id: string; tenant_id: string }

/** The parameters of an entry that is written with its row; the row's own follow. */
const ENTRY = [
  'id',
  'at',
  'actor',
  'actor_role',
  'actor_tenant_id',
  'request_id',
  'operation',
  'credential_kind',
  'credential_id',
  'address',
  'client_request_id',
  'subject_id',
  'tenant_id',
  'after',
]

/**
 * A statement that inserts a row of a tenant and the entry that the trigger would write, at a third of what the trigger
 * costs: for a create that is asked for often. It leaves the setting alone, so that the trigger rests. In a transaction the
 * setting is set, and the trigger writes the entry: then this must not.
 */
export const auditedInsert = (table: string, columns: readonly string[]): string =>
  `with made as (
    insert into ${table} (${columns.join(', ')}) values (${columns.map((_, i) => `$${ENTRY.length + i + 1}`).join(', ')})
  )
  insert into audit_log (subject_type, action, ${ENTRY.join(', ')})
  select '${table}', 'created', $1::uuid, $2::timestamptz, $3::text, $4::text, $5::text, $6::text, $7::text,
    $8::text, $9::text, $10::text, $11::text, $12::text, $13::text, $14::jsonb
  where $3 is not null`

/** Its values; `shown` is what the entry tells of the row. */
export function auditedValues<Row extends Owned>(
  executor: Executor,
  row: Row,
  columns: readonly (keyof Row)[],
  shown: object,
): unknown[] {
  const { actor, role, tenant_id, request_id, operation, ...by } =
    (executor.isTransaction ? undefined : actingNow()) ?? ({} as Partial<Acting>)
  const credential = [by.credential_kind, by.credential_id, by.address, by.client_request_id]
  const who = [actor, role, tenant_id, request_id, operation, ...credential]
  const what = [row.id, row.tenant_id, JSON.stringify(shown)]
  return [newId(), new Date(processTime()), ...who, ...what, ...columns.map(column => row[column])]
}
