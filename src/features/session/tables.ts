// Rows of the browser sessions.
import type { Row } from '../../kernel/db/tables.ts'

/** `token` is encrypted; null when the session was ended. */
export type SessionRow = Row<'sessions'>
