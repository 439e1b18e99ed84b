// The queue's insert is long, always the same for a queue, and comes without a name: PostgreSQL would take twice as long
// to plan it as to run it, so it is prepared. The queue's other statements are better planned each time: a plan made
// while the queue is empty is a bad one when it is not.

/** One for each queue and way to send. */
const MOST = 50
const names = new Map<string, string>()

/** The name that a statement is prepared under, or undefined where it is not. */
export function preparedName(text: string, values: unknown): string | undefined {
  // What comes without values may be several commands in one text, which cannot be prepared: the queue's own upkeep is.
  if (!Array.isArray(values) || values.length === 0) return undefined
  if (!text.includes('INSERT INTO pgboss.job')) return undefined
  const known = names.get(text)
  if (known !== undefined || names.size >= MOST) return known
  const name = `queue_insert_${names.size + 1}`
  names.set(text, name)
  return name
}
