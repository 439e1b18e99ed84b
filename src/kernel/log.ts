// The log: JSON lines on standard output. Whatever looks like a secret is cut out, wherever a caller put it: in
// a path, in a header that is recorded, in a value that an error repeats.
import { type DestinationStream, type Logger, pino } from 'pino'

const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'password',
  'secret',
  'api_key',
  'connectionString',
  'access_token',
  // What a failed statement was given.
  'params',
  'parameters',
]

/** Objects that libraries hang such fields on. Named one by one: a `*` would be looked for in every value of every line. */
const CARRIERS = [
  'err',
  'headers',
  'req',
  'req.headers',
  'err.headers',
  'err.config',
  'config',
  'options',
  'warning',
  'warning.data',
]

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: 'cloudops' },
    redact: {
      paths: SECRET_FIELDS.flatMap(field => [
        `["${field}"]`,
        ...CARRIERS.map(carrier => `${carrier}["${field}"]`),
      ]),
      censor: '[redacted]',
    },
    timestamp: pino.stdTimeFunctions.isoTime,
    // The last look at every line: credentials that are known by their form, in whatever text they stand.
    hooks: { streamWrite: withoutCredentials },
  }
  return destination ? pino(options, destination) : pino(options)
}

export const MASKED = '[masked]'

/** Credentials by their form: JWTs and parts of them, our own keys and tokens, the provider's, and those of other services. */
const TOKENS =
  /eyJ[\w-]{8,}(?:\.[\w-]*){0,4}|\b(?:cops|inv|whsec|do[opr]_v1|[sr]k|gh[opsu]|github_pat|glpat|xox[abeprs])[_-][\w+/=-]{8,}|AKIA[0-9A-Z]{12,}/g
/** The password in an address. */
const PASSWORDS = /(:\/\/[^\s/:@"]{0,128}:)[^\s/@"]+(?=@)/g

/** The text with every credential in it masked. */
export function withoutCredentials(text: string): string {
  const masked = text.replace(TOKENS, MASKED)
  return masked.includes('://') ? masked.replace(PASSWORDS, `$1${MASKED}`) : masked
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** A word somebody chose: short, and not one of the long mixtures of letters and digits that secrets are. */
const WORD = /^[\w.-]{1,24}$/
const MIXTURE = /^(?=.*\d)(?=.*[A-Za-z])[\w-]{16,}$/

const LONGEST_PATH = 256
const MOST_ENCODINGS = 3

/**
 * A path as the log shows it: what the route's own pattern says stays, ids and short words stay, anything else is masked.
 * Without a pattern, nothing of it is ours.
 */
export function maskedPath(url: string, pattern: string | undefined): string {
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  const known = pattern === undefined ? '' : knownStart(path, pattern)
  if (known === path) return path
  const own = pattern?.slice(known.length).split('/') ?? []
  const shown = path
    .slice(known.length)
    .split('/', 32)
    .map((segment, i) => {
      if (segment === '' || (own[i] === segment && !segment.startsWith(':'))) return segment
      return maskedSegment(decoded(segment))
    })
  return `${known}${shown.join('/')}`.slice(0, LONGEST_PATH)
}

/** What the path begins with as the pattern does before its first parameter; mostly that is nearly all of it. */
function knownStart(path: string, pattern: string): string {
  const parameter = pattern.indexOf(':')
  const start = parameter < 0 ? pattern : pattern.slice(0, parameter)
  return path.startsWith(start) && (parameter >= 0 || path === pattern) ? start : ''
}

function maskedSegment(segment: string): string {
  if (UUID.test(segment)) return segment
  if (!WORD.test(segment) || MIXTURE.test(segment)) return MASKED
  return withoutCredentials(segment)
}

/** However often it was encoded; what cannot be decoded is no word, and masked as such. */
function decoded(segment: string): string {
  let text = segment
  for (let i = 0; i < MOST_ENCODINGS && text.includes('%'); i++) {
    try {
      text = decodeURIComponent(text)
    } catch {
      return text
    }
  }
  return text
}

/** What a caller calls its own request: kept as it is when it is plain text of a length that names have. */
export function clientRequestId(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,128}$/.test(header)) return null
  return withoutCredentials(header)
}
