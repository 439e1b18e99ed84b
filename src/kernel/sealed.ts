// Secrets that must be stored and read again: AES-256-GCM under keys derived from SECRET_KEY. What is sealed for one
// purpose or one place opens for no other, so a value copied to another row is as useless as a changed one.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Seal {
  /** `place` says where the value is kept, such as the row's key; it must be said again to open it. */
  seal(plain: string, place: string): string
  /** Throws when the value was changed, moved, or sealed under another SECRET_KEY. */
  open(sealed: string, place: string): string
}

const VERSION = 'v1.'
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function sealFor(purpose: string, secretKey: string): Seal {
  // A key for each value: random nonces under one key would have to be counted (2^32 at most).
  const keyOf = (salt: Buffer) =>
    Buffer.from(hkdfSync('sha256', secretKey, salt, `cloudops sealed ${purpose}`, 32))
  return {
    seal(plain, place) {
      const salt = randomBytes(SALT_BYTES)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyOf(salt), nonce).setAAD(Buffer.from(place))
      const hidden = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString('base64url')
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      const [nonceAt, tagAt] = [SALT_BYTES, SALT_BYTES + NONCE_BYTES]
      const hiddenAt = tagAt + TAG_BYTES
      if (!sealed.startsWith(VERSION) || bytes.length < hiddenAt) throw new Error('this is no sealed value')
      const key = keyOf(bytes.subarray(0, nonceAt))
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(nonceAt, tagAt), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(tagAt, hiddenAt))
      return Buffer.concat([decipher.update(bytes.subarray(hiddenAt)), decipher.final()]).toString('utf8')
    },
  }
}
