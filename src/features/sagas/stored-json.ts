// What a step hands back is stored as JSON, and the next step sees exactly what was stored. Pure.
import type { Json } from './step.ts'

/** Of a step's output, and of all that a run's context holds. */
export const MOST_BYTES = 256 * 1024

// As JSON.stringify writes what jsonb cannot hold: NUL and halves of surrogate pairs. An escaped backslash may precede.
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** The JSON text of an object, or an error that says what is wrong with it. */
export function textOf(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    throw new Error(`its ${what} cannot be written as JSON`)
  }
  // Neither a list nor null nor what writes itself as text.
  if (!text?.startsWith('{')) throw new Error(`its ${what} is not an object`)
  if (Buffer.byteLength(text) > MOST_BYTES) throw new Error(`its ${what} is larger than ${MOST_BYTES} bytes`)
  if (UNSTORABLE.test(text)) throw new Error(`its ${what} holds characters that cannot be stored`)
  return text
}

/** Frozen through and through: a step cannot change what the runner knows. */
export function frozen<T>(value: T): T {
  // What is no object is frozen by nature.
  if (Object.isFrozen(value)) return value
  for (const part of Object.values(value as object)) frozen(part)
  return Object.freeze(value)
}

/** As the database's `context || added`: the added wins, key by key at the top. */
export const merged = (context: Readonly<Json>, added: string): Readonly<Json> =>
  frozen({ ...context, ...JSON.parse(added) })
