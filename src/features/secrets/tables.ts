// Rows of the secrets.
import type { Row } from '../../kernel/db/tables.ts'

/** `version` counts the values it has had; `sealed` is the value, encrypted for its name. */
export type SecretRow = Row<'secrets'>
