// A connection that keeps the queue's insert prepared. It is long, always the same for a queue, and comes without a name:
// PostgreSQL would take twice as long to plan it as to run it. The queue's other statements are better planned each time:
// a plan made while the queue is empty is a bad one when it is not.
import pg from 'pg'

/** One for each queue and way to send. */
const MOST = 50
const names = new Map<string, string>()

function nameOf(text: unknown, values: unknown): string | undefined {
  // What comes without values may be several commands in one text, which cannot be prepared: the queue's own upkeep is.
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return undefined
  if (!text.includes('INSERT INTO pgboss.job')) return undefined
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST) return known
  const name = `queue_insert_${names.size + 1}`
  names.set(text, name)
  return name
}

type Query = (...args: unknown[]) => unknown

export class PreparingClient extends pg.Client {
  override query = ((text: unknown, values: unknown, ...rest: unknown[]) => {
    const query = pg.Client.prototype.query as Query
    const name = nameOf(text, values)
    return name ? query.call(this, { name, text, values }, ...rest) : query.call(this, text, values, ...rest)
  }) as pg.Client['query']
}
