// SQL of the browser sessions.
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'

export interface SessionRow {
  id: string
  user_id: string
  tenant_id: string | null
  /** Encrypted; null when the session was ended. */
  token: string | null
  created_at: string
  expires_at: string
  ended_at: string | null
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    sessions: SessionRow
  }
}

export async function insertSession(tx: Executor, row: SessionRow): Promise<void> {
  await tx.insertInto('sessions').values(row).execute()
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
  await tx
    .updateTable('sessions')
    .set({ token: null, ended_at: at })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute()
}

export async function deleteSessionsBefore(executor: Executor, before: string): Promise<number> {
  const result = await executor.deleteFrom('sessions').where('expires_at', '<=', before).executeTakeFirst()
  return Number(result.numDeletedRows)
}
