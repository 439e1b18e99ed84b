// What a database error means to a caller. Constraints are the last word on every race, so their violations are
// ordinary answers, not bugs; what they say about tables and columns stays in the log.
import { AppError, conflict, invalid, notFound, unavailable } from '../errors.ts'

export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The constraint that was violated, so that a use case can name the exact conflict (`slug_taken`). */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('constraint' in error)) return undefined
  return typeof error.constraint === 'string' ? error.constraint : undefined
}

/** A value of the statement is what the database cannot hold: too long, too large, too deep, of no such kind. */
export const isRefusedValue = (error: unknown): boolean => /^(22|54)/.test(sqlState(error) ?? '')

/** We gave up on a connection: what its last statement came to is unknown. */
export class LostConnection extends Error {
  code = 'ETIMEDOUT'
}

/** Other services that are away have errors of classes of their own: only plain ones are the database's connections'. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Error && [Error, AggregateError, LostConnection].some(kind => error.constructor === kind)

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
const NO_CONNECTION =
  /connection (terminated|timeout|ended|has been discarded)|timeout expired|did not answer|not queryable/i
const NONE_FREE = /timeout exceeded when trying to connect/

/** The database answers, and cannot write; said to callers as it is. */
const CANNOT_WRITE: Record<string, string> = {
  '25006': 'The database cannot write: it is a read-only standby. Try again shortly.', // read_only_sql_transaction
  '53100': 'The database cannot write: its disk is full.', // disk_full
  '58030': 'The database cannot write: its disk reports errors.', // io_error
}

export const cannotWrite = (error: unknown): boolean => Object.hasOwn(CANNOT_WRITE, sqlState(error) ?? '')

/** The problem that a database error stands for, or undefined when it is a bug of ours. */
export function problemOfDatabaseError(error: unknown): AppError | undefined {
  const state = sqlState(error)
  const unwritable = CANNOT_WRITE[state ?? '']
  if (unwritable) return new AppError('unavailable', 'database_cannot_write', unwritable, { cause: error })
  if (/^(08|57P|53|25P0[34])/.test(state ?? '')) return databaseAway(error)
  if (isPlain(error)) {
    if (NONE_FREE.test(error.message))
      return unavailable('All connections to the database are in use. Try again shortly.', error)
    if (NETWORK.has(state ?? '') || NO_CONNECTION.test(error.message)) return databaseAway(error)
  }
  switch (state) {
    case '23505': // unique_violation
    case '23P01': // exclusion_violation
      return conflict('conflict', 'This clashes with something that exists already.', { cause: error })
    case '23503': // foreign_key_violation
      return conflict('conflict', 'Something this refers to does not exist, or is still referred to.', {
        cause: error,
      })
    case '55000': // object_not_in_prerequisite_state: rows that the database itself keeps from changing
      return conflict('conflict', 'This can no longer be changed.', { cause: error })
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
    case '55P03': // lock_not_available
      return conflict('conflict', 'Another request changed the same thing at the same time. Try again.', {
        cause: error,
      })
    case '57014': // query_canceled, by the limit of a statement
      return new AppError(
        'unavailable',
        'query_timeout',
        'The database took too long over this. Narrow the question, or try again shortly.',
        { cause: error },
      )
    case '23502': // not_null_violation
    case '23514': // check_violation
    case '22001': // string_data_right_truncation
    case '22003': // numeric_value_out_of_range
    case '22007': // invalid_datetime_format
    case '22008': // datetime_field_overflow
    case '22021': // character_not_in_repertoire (NUL in text)
    case '22P05': // untranslatable_character (NUL in jsonb)
      return invalid('A value is outside what can be stored.')
    case '22P02': // invalid_text_representation (a path id that is no uuid)
      return notFound()
    default:
      return undefined
  }
}

export const isDatabaseAway = (error: unknown): boolean =>
  problemOfDatabaseError(error)?.kind === 'unavailable'

/** Why something failed, for a record that people read: the database's own words show tables and values. */
export function reasonOf(error: unknown): string {
  const problem = problemOfDatabaseError(error)
  if (problem) return problem.message
  if (/^[0-9A-Z]{5}$/.test(sqlState(error) ?? ''))
    return 'The database refused a statement: the log says why.'
  return (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON)
}

const LONGEST_REASON = 1_000

const databaseAway = (cause: unknown) =>
  unavailable('The database does not answer. Try again shortly.', cause)
