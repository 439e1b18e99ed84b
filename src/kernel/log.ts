// The log: JSON lines on standard output. Whatever looks like a secret is cut out, wherever a caller put it.
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
]

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { service: 'cloudops' },
    redact: {
      paths: SECRET_FIELDS.flatMap(field => [`["${field}"]`, `*["${field}"]`, `*.headers["${field}"]`]),
      censor: '[redacted]',
    },
    timestamp: pino.stdTimeFunctions.isoTime,
  }
  const log = destination ? pino(options, destination) : pino(options)
  lookIntoObjectsAlone(log)
  return log
}

type Stringifiers = Record<symbol, (value: unknown) => string | undefined>

/**
 * pino looks for every `*` path in every value, also in text and numbers, which have no fields: most of the time it
 * takes to log a request. Its symbols are there for such adjustments; children inherit this one.
 */
function lookIntoObjectsAlone(log: Logger): void {
  const { stringifiersSym, wildcardFirstSym } = pino.symbols
  const stringifiers = (log as unknown as Record<symbol, Stringifiers>)[stringifiersSym]
  const redact = stringifiers?.[wildcardFirstSym]
  if (!stringifiers || !redact) throw new Error('pino no longer redacts the way this was written for')
  stringifiers[wildcardFirstSym] = value => (fieldless(value) ? JSON.stringify(value) : redact(value))
}

const fieldless = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null
