// The Standard Webhooks signature: an HMAC over id, time and body, so that a receiver can tell our message from a forged,
// changed or old one. Several secrets give several signatures, of which one that fits is enough.
import { createHmac } from 'node:crypto'

export const SECRET_PREFIX = 'whsec_'

export interface Signed {
  id: string
  /** When it is sent, in seconds. */
  timestamp: number
  body: string
}

/** The value of the `webhook-signature` header. */
export const signatures = (secrets: readonly string[], message: Signed): string =>
  secrets.map(secret => signature(secret, message)).join(' ')

function signature(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
