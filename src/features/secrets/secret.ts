// What a secret looks like, what it may be called, and which names mean a queue's provider token. No value is ever shown.
import { Type } from 'typebox'
import type { SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { fieldsOf, noun } from '../../kernel/noun.ts'
import { QUEUE_NAMES, type QueueName } from '../../kernel/queue/queues.ts'
import { createVault, type Vault } from '../../kernel/vault.ts'

/** `sealed` is the value, encrypted for its name. */
export type SecretRow = Row<'secrets'>

export const Secret = noun(
  'Secret',
  {
    name: Type.String(),
    version: Type.Integer({ description: 'Counts the values it has had: 1, 2, 3, …' }),
    fingerprint: Type.String({
      description:
        'The same for the same value, and useless for guessing it: it is made with a key of the service.',
    }),
    readable: Type.Boolean({
      description: 'False when it was stored under another `SECRET_KEY`: put it again.',
    }),
    description: Nullable(Type.String()),
    created_at: Time,
    created_by: Type.String(),
    updated_at: Time,
    updated_by: Type.String(),
  },
  { readable: null },
)

export const shownSecret = (vault: Vault, row: SecretRow) =>
  fieldsOf(Secret, { ...row, readable: vault.decrypt(row.name, row.sealed) !== null })

export const LONGEST_NAME = 128
export const PART_PATTERN = '^[a-z0-9_-]+$'
export const NAME_PATTERN = '^[a-z0-9_-]+(/[a-z0-9_-]+)?$'
export const TOKEN_PREFIX = 'provider_token/'

const pattern = new RegExp(NAME_PATTERN)

export const isSecretName = (name: string): boolean => name.length <= LONGEST_NAME && pattern.test(name)

export const isTokenSecret = (name: string): boolean => name.startsWith(TOKEN_PREFIX)

/** The secret that holds a queue's provider token. */
export const tokenSecret = (queue: QueueName): string => TOKEN_PREFIX + queue

/** Undefined when the name is no provider token's, or that of a queue that does not exist. */
export const queueOf = (name: string): QueueName | undefined =>
  QUEUE_NAMES.find(queue => tokenSecret(queue) === name)

const BAD_NAME =
  'must be one or two parts of a-z, 0-9, _ and -, with a / between them, and at most 128 characters'
const BAD_QUEUE = `must name a queue after provider_token/: ${QUEUE_NAMES.join(', ')}`
const BAD_TOKEN = 'must be printable ASCII without spaces, for a provider token travels in a header'

/** What is wrong with a name and its value. No message repeats the value. */
export function problemsOf(name: string, value: string): FieldError[] {
  if (!isSecretName(name)) return [{ pointer: '/name', message: BAD_NAME }]
  if (!isTokenSecret(name)) return []
  return [
    ...(queueOf(name) === undefined ? [{ pointer: '/name', message: BAD_QUEUE }] : []),
    ...(/^[\x21-\x7e]+$/.test(value) ? [] : [{ pointer: '/value', message: BAD_TOKEN }]),
  ]
}

/** For the rotation of SECRET_KEY. Fingerprints are keyed, and follow. */
export function encryptedSecrets(secretKeys: SecretKeys): EncryptedTable {
  const vault = createVault(secretKeys)
  return {
    table: 'secrets',
    key: ['name'],
    columns: ['sealed'],
    reencrypt: (encrypted, name) => vault.reencrypt(name, encrypted),
    placeOf: ({ name }) => name!,
    derived: ({ name, sealed }) => ({ fingerprint: vault.fingerprint(vault.decrypt(name!, sealed!)!) }),
  }
}
