// What is written down when a step fails: a sentence for an operator. Never a stack, never what looks like a secret, never
// the values that a database error carries. Pure.
import { problemOfDatabaseError } from '../../kernel/db/errors.ts'

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
