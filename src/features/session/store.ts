// SQL of the browser sessions.
import { auditedTable } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor, Row } from '../../kernel/db/tables.ts'

/** `token` is encrypted; null when the session was ended. */
export type SessionRow = Row<'sessions'>

const SESSIONS = auditedTable('sessions', { key: ['id'], secret: ['token'] })

export async function insertSession(tx: Executor, row: SessionRow): Promise<void> {
  await SESSIONS.insert(tx, [row])
}

export type PresentedSession = Pick<SessionRow, 'token' | 'ended_at'>

/** Read at every request that carries the cookie. */
export async function findSession(executor: Executor, id: string): Promise<PresentedSession | undefined> {
  const text = 'select token, ended_at from sessions where id = $1'
  const [row] = await runStatement<PresentedSession>(executor, { name: 'sessions_find', text }, [id])
  return row
}

/** One that has ended keeps the time it did. */
export async function endSession(tx: Executor, id: string, at: string): Promise<void> {
  await SESSIONS.update(tx, { id, ended_at: null }, { token: null, ended_at: at })
}

export async function deleteSessionsBefore(executor: Executor, before: string): Promise<number> {
  const result = await executor.deleteFrom('sessions').where('expires_at', '<=', before).executeTakeFirst()
  return Number(result.numDeletedRows)
}
