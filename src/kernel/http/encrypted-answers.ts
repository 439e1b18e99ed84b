// Where idempotent answers are encrypted, and with what.
import { type Encryption, encryptionFor, type SecretKeys } from '../crypto.ts'
import type { EncryptedTable } from '../crypto-rotation.ts'
import { placeText } from './kept-answer.ts'

export const answerEncryption = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('idempotent answers', secretKeys)

export const encryptedAnswers = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'idempotency_keys',
  key: ['caller', 'key'],
  columns: ['request_hash', 'answer'],
  reencrypt: answerEncryption(secretKeys).reencrypt,
  placeOf: ({ caller, key }) => placeText({ caller: caller!, key: key! }),
})
