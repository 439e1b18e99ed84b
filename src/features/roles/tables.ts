// Rows of the roles.
import type { Row } from '../../kernel/db/tables.ts'

/** `permissions` are in order, each once. */
export type RoleRow = Row<'roles'>
