// Statements that are kept prepared: PostgreSQL plans each once for a connection, on the database as in a transaction.
import { CompiledQuery } from 'kysely'
import type { Executor } from './tables.ts'

export interface Statement {
  /** What it is called in the database's views; empty for one that is better planned each time. */
  name: string
  text: string
}

/** The names of the texts that are kept prepared. Kysely hands texts alone to the client, which looks here. */
const names = new Map<string, string>()

export async function runStatement<Row>(
  executor: Executor,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  // Two texts must not share a name, and the database cuts names at 63 bytes: so each is numbered.
  if (name !== '' && !names.has(text)) names.set(text, `${name.slice(0, 50)}_${names.size}`)
  return (await executor.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
}

/** Kysely hands texts alone to the client: so the text says it. */
const LAST = '-- with the commit\n'
const lasts = new Map<string, string>()

/**
 * For a statement whose answer nobody waits for, as the last of its transaction: PostgreSQL gets it together with the commit, a
 * round trip less. What it fails by is told by the commit. Where another statement follows, it is sent before that one.
 */
export async function runLast(tx: Executor, { name, text }: Statement, values: unknown[]): Promise<void> {
  if (values.length === 0) throw new Error('only a statement with values can be sent with another')
  let last = lasts.get(text)
  if (last === undefined) {
    last = LAST + text
    lasts.set(text, last)
  }
  await runStatement(tx, { name, text: last }, values)
}

export const isLast = (text: string): boolean => text.startsWith(LAST)

/** The name that a statement is prepared under, or undefined where it is not. */
export function preparedName(text: string, values: unknown): string | undefined {
  // What comes without values may be several commands in one text, which cannot be prepared: the queue's own upkeep is.
  if (!Array.isArray(values) || values.length === 0) return undefined
  return names.get(text) ?? queueInsertName(text)
}

/** One for each queue and way to send. */
const MOST_QUEUE_INSERTS = 50
const queueInserts = new Map<string, string>()

/**
 * The queue's insert comes without a name, is long and always the same for a queue: PostgreSQL would take twice as long to
 * plan it as to run it. The queue's other statements are planned each time: a plan made while the queue is empty is a bad
 * one when it is not.
 */
function queueInsertName(text: string): string | undefined {
  if (!text.includes('INSERT INTO pgboss.job')) return undefined
  const known = queueInserts.get(text)
  if (known !== undefined || queueInserts.size >= MOST_QUEUE_INSERTS) return known
  const name = `queue_insert_${queueInserts.size + 1}`
  queueInserts.set(text, name)
  return name
}
