// Secrets that must be stored and read again: AES-256-GCM under keys derived from SECRET_KEY. What is sealed for one
// purpose or one place opens for no other, so a value copied to another row is as useless as a changed one. While
// SECRET_KEY is rotated there are several: the first encrypts, and all are tried in turn to decrypt.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export interface Seal {
  /** `place` says where the value is kept, such as the row's key; it must be said again to open it. */
  seal(plain: string, place: string): string
  /** Throws when the value was changed, moved, or sealed under a SECRET_KEY that is not listed. */
  open(sealed: string, place: string): string
  /** The value encrypted anew under the first key; null when it is already. Throws as `open` does. */
  renew(sealed: string, place: string): string | null
}

/** SECRET_KEY as it is configured: the first encrypts and signs, the others still decrypt and verify. */
export type SecretKeys = readonly string[]

const VERSION = 'v1.'
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function sealFor(purpose: string, secretKeys: SecretKeys): Seal {
  // A key for each value: random nonces under one key would have to be counted (2^32 at most).
  const keyOf = (secretKey: string, salt: Buffer) =>
    Buffer.from(hkdfSync('sha256', secretKey, salt, `cloudops sealed ${purpose}`, 32))

  function seal(plain: string, place: string): string {
    const salt = randomBytes(SALT_BYTES)
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', keyOf(secretKeys[0]!, salt), nonce).setAAD(
      Buffer.from(place),
    )
    const hidden = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return VERSION + Buffer.concat([salt, nonce, cipher.getAuthTag(), hidden]).toString('base64url')
  }

  /** Which of the keys it opens with is known by trying: each value carries a tag that only its own key gives. */
  function openWithAny(sealed: string, place: string): { plain: string; keyIndex: number } {
    const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
    const [nonceAt, tagAt] = [SALT_BYTES, SALT_BYTES + NONCE_BYTES]
    const hiddenAt = tagAt + TAG_BYTES
    if (!sealed.startsWith(VERSION) || bytes.length < hiddenAt) throw new Error('this is no sealed value')
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
    seal,
    open: (sealed, place) => openWithAny(sealed, place).plain,
    renew(sealed, place) {
      const { plain, keyIndex } = openWithAny(sealed, place)
      return keyIndex === 0 ? null : seal(plain, place)
    },
  }
}
