// What is stored of a step: its results as JSON, which the next step sees exactly as stored, and the reason it failed as a
// sentence for an operator. A reason has no stack, nothing that looks like a secret, and no values of a database error. Pure.
import { problemOfDatabaseError } from '../../kernel/db/errors.ts'
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

const LONGEST = 500
/** No more than this is looked through for secrets. */
const LONGEST_READ = 4_000

const SECRETS: [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\b(do[opr]_v1_|cops_)[\w-]+/g, '$1[redacted]'],
  // JSON Web Tokens.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[redacted]'],
  [/:\/\/[^\s/:@]+:[^\s/@]+@/g, '://[redacted]@'],
  [/\b(password|passwd|secret|token|api[_-]?key)(["']?\s*[=:]\s*["']?)[^\s"',;&]+/gi, '$1$2[redacted]'],
]

/** Of whatever was raised. */
export function reasonOf(raised: unknown): string {
  const known = problemOfDatabaseError(raised)
  if (known) return `the database refused: ${known.message}`
  return inWords(raised instanceof Error ? raised.message : String(raised))
}

/** Of a step's own words. */
export function inWords(reason: unknown): string {
  const text = typeof reason === 'string' ? reason : ''
  // A message may hold a stack of its own: what follows the first frame says nothing to an operator.
  const [said = ''] = text.slice(0, LONGEST_READ).split(/\n\s+at /)
  const clean = SECRETS.reduce((words, [secret, instead]) => words.replace(secret, instead), said)
    // Control characters cannot be stored (NUL) or shown on a terminal.
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim()
  if (clean === '') return 'no reason was given'
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST - 1)}…`.toWellFormed() : clean
}
