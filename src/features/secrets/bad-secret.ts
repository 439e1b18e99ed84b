// Whether a name and a value go together. No complaint repeats the value.
import type { FieldError } from '../../kernel/errors.ts'
import { QUEUE_NAMES } from '../../kernel/queue/queues.ts'
import { isSecretName, isTokenSecret, queueOf } from './secret-name.ts'

const BAD_NAME =
  'must be one or two parts of a-z, 0-9, _ and -, with a / between them, and at most 128 characters'
const BAD_QUEUE = `must name a queue after provider_token/: ${QUEUE_NAMES.join(', ')}`
const BAD_TOKEN = 'must be printable ASCII without spaces, for a provider token travels in a header'

export function complaintsAbout(name: string, value: string): FieldError[] {
  if (!isSecretName(name)) return [{ pointer: '/name', message: BAD_NAME }]
  if (!isTokenSecret(name)) return []
  return [
    ...(queueOf(name) === undefined ? [{ pointer: '/name', message: BAD_QUEUE }] : []),
    ...(/^[\x21-\x7e]+$/.test(value) ? [] : [{ pointer: '/value', message: BAD_TOKEN }]),
  ]
}
