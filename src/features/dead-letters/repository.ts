// Dead letters live in the queue's own table, as jobs of the queue `dead_letters`.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import { DEAD_LETTERS } from '../../kernel/queue/queues.ts'

export interface DeadLetterRow {
  id: string
  queue: string | null
  job: string | null
  payload: unknown
  error: string | null
  attempts: number
  sent_at: string | null
  failed_at: string
}

/** Newest first, after the row with this time and id. */
export async function listDeadLetters(
  executor: Executor,
  limit: number,
  after: { failed_at: string; id: string } | null,
): Promise<DeadLetterRow[]> {
  // The queue's times carry microseconds; the cursor's carry milliseconds, so rows are ordered by those.
  const failedAt = sql`date_trunc('milliseconds', created_on)`
  const { rows } = await sql<DeadLetterRow>`
    select id, split_part(source_name, '/', 1) as queue, data->>'job' as job, data->'payload' as payload,
           coalesce(source_output->>'message', source_output->'value'->>'message') as error,
           coalesce(source_retry_count, 0) + 1 as attempts, source_created_on as sent_at, ${failedAt} as failed_at
    from pgboss.job
    where name = ${DEAD_LETTERS} and state < 'active'
      ${after ? sql`and (${failedAt}, id) < (${after.failed_at}, ${after.id})` : sql``}
    order by ${failedAt} desc, id desc
    limit ${limit}`.execute(executor)
  return rows
}
