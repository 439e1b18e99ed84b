// The keys of the secrets, all derived from SECRET_KEY. A value is encrypted for its name; its fingerprint is keyed, so that
// it tells equal values from others and still lets nobody without the key try out what a short one might be.
import { createHmac, hkdfSync } from 'node:crypto'
import { encryptionFor, type SecretKeys } from './crypto.ts'

export interface Vault {
  encrypt(name: string, value: string): string
  /** Null when it was encrypted under a SECRET_KEY that is not listed, or is not what was stored. */
  decrypt(name: string, encrypted: string): string | null
  /** Encrypted anew under the first SECRET_KEY; null when it is already. Throws where `decrypt` returns null. */
  reencrypt(name: string, encrypted: string): string | null
  fingerprint(value: string): string
}

/** 64 bits: enough to tell the values of one service apart. */
const FINGERPRINT_HEX = 16

export function createVault(secretKeys: SecretKeys): Vault {
  const { encrypt, decrypt, reencrypt } = encryptionFor('secrets', secretKeys)
  const key = Buffer.from(hkdfSync('sha256', secretKeys[0]!, '', 'cloudops fingerprint secrets', 32))
  return {
    encrypt: (name, value) => encrypt(value, name),
    decrypt(name, encrypted) {
      try {
        return decrypt(encrypted, name)
      } catch {
        return null
      }
    },
    reencrypt: (name, encrypted) => reencrypt(encrypted, name),
    fingerprint: value =>
      createHmac('sha256', key).update(value, 'utf8').digest('hex').slice(0, FINGERPRINT_HEX),
  }
}
