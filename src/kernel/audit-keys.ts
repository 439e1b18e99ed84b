// The keys that vouch for the audit log, derived from SECRET_KEY: one for the chain's MACs, which nobody without it can make
// or check, and one that signs checkpoints, whose public half anyone may check them with. Of several secrets the first is
// used, and the others are still known.
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  sign,
  verify,
} from 'node:crypto'

export interface AuditKey {
  id: string
  /** Ed25519, raw, in base64. */
  publicKey: string
  mac(text: string): string
  sign(text: string): string
  verifies(text: string, signature: string): boolean
}

export interface AuditKeys {
  current: AuditKey
  find(id: string): AuditKey | undefined
}

/** What precedes the 32 bytes of a private Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const RAW_BYTES = 32

export function auditKeys(secrets: string | readonly string[]): AuditKeys {
  const keys = [secrets].flat().map(auditKey)
  return { current: keys[0]!, find: id => keys.find(key => key.id === id) }
}

function auditKey(secret: string): AuditKey {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `cloudops audit ${purpose}`, RAW_BYTES))
  const macKey = derive('chain')
  const seed = Buffer.concat([PKCS8, derive('checkpoints')])
  const privateKey = createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-RAW_BYTES)
  return {
    id: createHash('sha256').update(raw).digest('hex').slice(0, 16),
    publicKey: raw.toString('base64'),
    mac: text => createHmac('sha256', macKey).update(text).digest('hex'),
    sign: text => sign(null, Buffer.from(text), privateKey).toString('base64'),
    verifies: (text, signature) =>
      verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64')),
  }
}
