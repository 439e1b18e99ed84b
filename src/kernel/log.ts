// The log: JSON lines on standard output. Whatever looks like a secret is cut out, wherever a caller put it.
import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutCredentials } from './masking.ts'

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
