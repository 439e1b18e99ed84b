// Where idempotent answers are encrypted, and with what.
import type { EncryptedTable } from '../reencrypt.ts'
import { type Seal, type SecretKeys, sealFor } from '../sealed.ts'
import { placeText } from './kept-answer.ts'

export const answerSeal = (secretKeys: SecretKeys): Seal => sealFor('idempotent answers', secretKeys)

export const encryptedAnswers = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'idempotency_keys',
  key: ['caller', 'key'],
  columns: ['request_hash', 'answer'],
  renew: answerSeal(secretKeys).renew,
  placeOf: ({ caller, key }) => placeText({ caller: caller!, key: key! }),
})
