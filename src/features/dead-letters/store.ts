// Dead letters live in the queue's own table, as jobs of the queue `dead_letters`.
import { Type } from 'typebox'
import { listPage } from '../../kernel/db/list.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Key } from '../../kernel/http/pages.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import { DEAD_LETTERS } from '../../kernel/queue/queues.ts'

// The queue's times carry microseconds; the cursor's carry milliseconds, so rows are ordered by those.
const FAILED_AT = `date_trunc('milliseconds', j.created_on)`

export const DeadLetter = noun(
  'DeadLetter',
  {
    id: Id,
    queue: Nullable(Type.String({ description: 'Where it failed.' })),
    job: Nullable(Type.String()),
    payload: Type.Unknown(),
    error: Nullable(Type.String()),
    attempts: Type.Integer(),
    sent_at: Nullable(Time),
    failed_at: Time,
  },
  {
    queue: `split_part($.source_name, '/', 1)`,
    job: `$.data->>'job'`,
    payload: `$.data->'payload'`,
    error: `coalesce($.source_output->>'message', $.source_output->'value'->>'message')`,
    attempts: 'coalesce($.source_retry_count, 0) + 1',
    sent_at: 'iso8601($.source_created_on)',
    failed_at: 'iso8601($.created_on)',
  },
)

const WAITING = `j.name = '${DEAD_LETTERS}' and j.state < 'active'`

export async function countDeadLetters(executor: Executor): Promise<number> {
  const text = `select count(*)::int as count from pgboss.job j where ${WAITING}`
  const [row] = await runStatement<{ count: number }>(executor, { name: '', text }, [])
  return row!.count
}

/** Newest first. */
export const listDeadLetters = (
  executor: Executor,
  limit: number,
  after: Key | null,
): Promise<{ id: string; failed_at: string; json: string }[]> =>
  listPage(executor, {
    name: 'dead_letters',
    select: `select j.id, ${FAILED_AT} as failed_at, ${jsonOf(DeadLetter, 'j')}::text as json from pgboss.job j`,
    where: WAITING,
    orderBy: [FAILED_AT, 'j.id'],
    descending: true,
    after,
    limit,
  })
