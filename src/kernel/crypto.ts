// Secrets that must be stored and read again: AES-256-GCM under keys derived from SECRET_KEY. What is encrypted for one
// purpose or one place decrypts for no other, so a value copied to another row is as useless as a changed one. While
// SECRET_KEY is rotated there are several: the first encrypts, and all are tried in turn to decrypt.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Encryption {
  /** `place` says where the value is kept, such as the row's key; decrypting needs the same. */
  encrypt(plain: string, place: string): string
  /** Throws when the value was changed, moved, or encrypted under a SECRET_KEY that is not listed. */
  decrypt(encrypted: string, place: string): string
  /** The value encrypted anew under the first key; null when it is already. Throws as `decrypt` does. */
  reencrypt(encrypted: string, place: string): string | null
}

/** SECRET_KEY as it is configured: the first encrypts and signs, the others still decrypt and verify. */
export type SecretKeys = readonly string[]

const VERSION = 'v1.'
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function encryptionFor(purpose: string, secretKeys: SecretKeys): Encryption {
  // A key for each value: random nonces under one key would have to be counted (2^32 at most).
  const keyOf = (secretKey: string, salt: Buffer) =>
    Buffer.from(hkdfSync('sha256', secretKey, salt, `cloudops sealed ${purpose}`, 32))

  function encrypt(plain: string, place: string): string {
    const salt = randomBytes(SALT_BYTES)
    const nonce = randomBytes(NONCE_BYTES)
    const key = keyOf(secretKeys[0]!, salt)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
    const hidden = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return VERSION + Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString('base64url')
  }

  /** Which of the keys it was encrypted under is known by trying: each value carries a tag that only its own key gives. */
  function decryptWithAny(encrypted: string, place: string): { plain: string; keyIndex: number } {
    const bytes = Buffer.from(encrypted.slice(VERSION.length), 'base64url')
    const [nonceAt, tagAt] = [SALT_BYTES, SALT_BYTES + NONCE_BYTES]
    const hiddenAt = tagAt + TAG_BYTES
    if (!encrypted.startsWith(VERSION) || bytes.length < hiddenAt)
      throw new Error('this is no encrypted value')
    for (let keyIndex = 0; ; keyIndex += 1) {
      const key = keyOf(secretKeys[keyIndex]!, bytes.subarray(0, nonceAt))
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(nonceAt, tagAt), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(tagAt, hiddenAt))
      const start = decipher.update(bytes.subarray(hiddenAt))
      try {
        return { plain: Buffer.concat([start, decipher.final()]).toString('utf8'), keyIndex }
      } catch (error) {
        if (keyIndex === secretKeys.length - 1) throw error
      }
    }
  }

  return {
    encrypt,
    decrypt: (encrypted, place) => decryptWithAny(encrypted, place).plain,
    reencrypt(encrypted, place) {
      const { plain, keyIndex } = decryptWithAny(encrypted, place)
      return keyIndex === 0 ? null : encrypt(plain, place)
    },
  }
}

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Of a secret that people carry: 62^43 is just above 2^256. */
export const SECRET_LENGTH = 43

/**
 * Random letters and digits, which survive every form, header and mail. Each is equally likely: bytes past the last
 * multiple of 62 are thrown away.
 */
export function randomDigits(length: number): string {
  let digits = ''
  while (digits.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && digits.length < length) digits += BASE62[byte % 62]
    }
  }
  return digits
}
