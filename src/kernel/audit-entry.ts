// How code writes entries of the audit log, where the database's triggers (migrations/0016_audit_log.sql) do not.
import { sql } from 'kysely'
import { ACTOR_SETTING } from './acting.ts'
import type { Executor } from './db/tables.ts'

/** The first columns of an entry: which it is, and who was acting. */
const START = `audit_id(millis), to_timestamp(millis / 1000.0), who ->> 'actor', who ->> 'role', who ->> 'tenant_id',
  who ->> 'request_id', who ->> 'operation'`

/** Who is acting, from the setting's text; null: nobody. */
const acting = (text: string) => `(
  select nullif(${text}, '')::jsonb as who, floor(extract(epoch from clock_timestamp()) * 1000)::bigint as millis
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
    select ${sql.raw(START)}, ${subjectType}, ${subjectId}, ${tenantId}, 'requested', null, ${after}::jsonb
    from ${sql.raw(acting(`current_setting('${ACTOR_SETTING}', true)`))} where who is not null`.execute(tx)
}

/**
 * A statement that inserts a row with a tenant, and the entry that the trigger would write: at half the cost, for a create
 * that is asked for often. Its first value is `actingText()`, then come the columns'. It leaves the setting alone, so that
 * the trigger rests.
 */
export const auditedInsert = (table: string, columns: readonly string[], leftOut: string): string =>
  `with made as (
    insert into ${table} (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 2}`).join(', ')}) returning *
  )
  insert into audit_log
  select ${START}, '${table}', made.id::text, made.tenant_id, 'created', null, to_jsonb(made) - '${leftOut}'
  from made, ${acting('$1::text')} where who is not null`
