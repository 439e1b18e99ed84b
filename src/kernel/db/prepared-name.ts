// Which statements are kept prepared: those that have a name (statement.ts), and the queue's insert. That one is long,
// always the same for a queue, and comes without a name: PostgreSQL would take twice as long to plan it as to run it. The
// queue's other statements are better planned each time: a plan made while the queue is empty is a bad one when it is not.
import { preparedNameOf } from './statement.ts'

/** One for each queue and way to send. */
const MOST = 50
const queueInserts = new Map<string, string>()

/** The name that a statement is prepared under, or undefined where it is not. */
export function preparedName(text: string, values: unknown): string | undefined {
  // What comes without values may be several commands in one text, which cannot be prepared: the queue's own upkeep is.
  if (!Array.isArray(values) || values.length === 0) return undefined
  return preparedNameOf(text) ?? queueInsertName(text)
}

function queueInsertName(text: string): string | undefined {
  if (!text.includes('INSERT INTO pgboss.job')) return undefined
  const known = queueInserts.get(text)
  if (known !== undefined || queueInserts.size >= MOST) return known
  const name = `queue_insert_${queueInserts.size + 1}`
  queueInserts.set(text, name)
  return name
}
