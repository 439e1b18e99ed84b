// What a key looks like: cops_<8 prefix>_<43 secret>_<6 checksum>, all base62. The prefix finds the row, the secret
// proves the key, and the checksum refuses a mistyped or invented key before anything is looked up.
import { createHash, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { BASE62, randomDigits, SECRET_LENGTH } from '../../kernel/crypto.ts'
import { API_KEY_PREFIX } from '../../kernel/http/authenticate.ts'

const PREFIX_LENGTH = 8
const CHECKSUM_LENGTH = 6
const FORMAT = /^cops_([0-9A-Za-z]{8})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/

export interface NewKey {
  /** Shown once, kept nowhere. */
  raw: string
  prefix: string
  hash: string
}

export function newKey(): NewKey {
  const prefix = randomDigits(PREFIX_LENGTH)
  const body = `${API_KEY_PREFIX}${prefix}_${randomDigits(SECRET_LENGTH)}`
  const raw = `${body}_${checksum(body)}`
  return { raw, prefix, hash: hashKey(raw) }
}

/** The prefix of a well-formed key whose checksum is right; null for anything else. */
export function prefixOf(raw: string): string | null {
  const match = FORMAT.exec(raw)
  if (!match) return null
  const end = raw.length - CHECKSUM_LENGTH
  return checksum(raw.slice(0, end - 1)) === raw.slice(end) ? match[1]! : null
}

/**
 * A plain SHA-256, fast on purpose: slow hashes make up for secrets that can be guessed, and 256 random bits cannot.
 * Every request with a key pays for this one.
 */
export const hashKey = (raw: string): string => createHash('sha256').update(raw).digest('hex')

/** In constant time, so that how long it takes says nothing of how much was right. */
export function isHashOf(hash: string, raw: string): boolean {
  const [stored, given] = [Buffer.from(hash, 'hex'), Buffer.from(hashKey(raw), 'hex')]
  return stored.length === given.length && timingSafeEqual(stored, given)
}

/** CRC-32: it finds every single changed character, which a cut hash of six would not promise. */
function checksum(body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
