// The keys of the secrets, all derived from SECRET_KEY. A value is sealed for its name; its fingerprint is keyed, so that
// it tells equal values from others and still lets nobody without the key try out what a short one might be.
import { createHmac, hkdfSync } from 'node:crypto'
import { type SecretKeys, sealFor } from './sealed.ts'

export interface Vault {
  seal(name: string, value: string): string
  /** Null when it was sealed under a SECRET_KEY that is not listed, or is not what was stored. */
  open(name: string, sealed: string): string | null
  /** Sealed anew under the first SECRET_KEY; null when it is already. Throws what `open` answers with null. */
  renew(name: string, sealed: string): string | null
  fingerprint(value: string): string
}

/** 64 bits: enough to tell the values of one service apart. */
const FINGERPRINT_HEX = 16

export function createVault(secretKeys: SecretKeys): Vault {
  const { seal, open, renew } = sealFor('secrets', secretKeys)
  const key = Buffer.from(hkdfSync('sha256', secretKeys[0]!, '', 'cloudops fingerprint secrets', 32))
  return {
    seal: (name, value) => seal(value, name),
    open(name, sealed) {
      try {
        return open(sealed, name)
      } catch {
        return null
      }
    },
    renew: (name, sealed) => renew(sealed, name),
    fingerprint: value =>
      createHmac('sha256', key).update(value, 'utf8').digest('hex').slice(0, FINGERPRINT_HEX),
  }
}
