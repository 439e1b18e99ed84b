// Secrets of webhooks: made here, shown once, kept encrypted. After a rotation two of them sign for a day.
import { randomBytes } from 'node:crypto'
import { SECRET_PREFIX } from '../../integrations/webhooks/index.ts'
import { type Encryption, encryptionFor, type SecretKeys } from '../../kernel/crypto.ts'
import type { EncryptedTable } from '../../kernel/crypto-rotation.ts'
import type { WebhookRow } from './tables.ts'

const BYTES = 32
const OVERLAP_MS = 24 * 3_600_000

export const newSecret = (): string => SECRET_PREFIX + randomBytes(BYTES).toString('base64')

/** Until when the secret that is replaced now signs too. */
export const overlapEnd = (now: Date): string => new Date(now.getTime() + OVERLAP_MS).toISOString()

export const webhookEncryptionOf = (secretKeys: SecretKeys): Encryption =>
  encryptionFor('webhook secrets', secretKeys)

/** Where they are encrypted. */
export const encryptedWebhooks = (secretKeys: SecretKeys): EncryptedTable => ({
  table: 'webhooks',
  key: ['id'],
  columns: ['secret', 'previous_secret'],
  reencrypt: webhookEncryptionOf(secretKeys).reencrypt,
  placeOf: ({ id }) => id!,
})

/** Sealed for its webhook alone. */
export const sealSecret = (seal: Encryption, id: string, secret: string): string => seal.encrypt(secret, id)

export type Keyring = Pick<WebhookRow, 'secret' | 'previous_secret' | 'previous_secret_expires_at'>

/** The secrets that sign now, the newest first. Throws when they were sealed under a SECRET_KEY that is not listed. */
export function signingSecrets(seal: Encryption, id: string, keys: Keyring, now: Date): string[] {
  const { secret, previous_secret, previous_secret_expires_at: until } = keys
  const both = until !== null && Date.parse(until) > now.getTime() ? [secret, previous_secret!] : [secret]
  return both.map(sealed => seal.decrypt(sealed, id))
}
