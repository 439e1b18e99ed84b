// Secrets that people carry: random text of letters and digits, which survives every form, header and mail.
import { randomBytes } from 'node:crypto'

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 62^43 is just above 2^256. */
export const SECRET_LENGTH = 43

/** Each digit equally likely: bytes past the last multiple of 62 are thrown away. */
export function randomDigits(length: number): string {
  let digits = ''
  while (digits.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && digits.length < length) digits += BASE62[byte % 62]
    }
  }
  return digits
}
