// Decides which ids things get. Seeds name theirs, so they are the same at every start; what is created
// later counts up from the world's start, so that a restarted sandbox never hands an old id out again.
import { createHash } from 'node:crypto'

/** The same name always gives the same UUID. */
export function namedUuid(name: string): string {
  const hex = createHash('sha1').update(`cloudops-sandbox:${name}`).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

/** MD5-style colon-separated fingerprint, as the provider shows for SSH keys. */
export function fingerprintOf(publicKey: string): string {
  const hex = createHash('md5').update(publicKey).digest('hex')
  return hex.match(/../g)?.join(':') ?? hex
}

export type Ids = {
  number(): number
  uuid(): string
  ipv4(): string
  ipv6(): string
}

const COUNT_FROM = Date.UTC(2026, 0, 1)

export function createIds(startedAt: Date): Ids {
  const epoch = Math.max(0, Math.floor((startedAt.getTime() - COUNT_FROM) / 1000))
  let numbers = 600_000_000 + epoch
  let uuids = 0
  let addresses = 0
  return {
    number: () => ++numbers,
    uuid: () => namedUuid(`created:${epoch}:${++uuids}`),
    // 198.18.0.0/15 and 2001:db8::/32 are set aside for tests: no sandbox address belongs to anybody.
    ipv4: () => {
      addresses += 1
      return `198.19.${(addresses >> 8) & 255}.${addresses & 255}`
    },
    ipv6: () => `2001:db8:feed::${(++addresses).toString(16)}`,
  }
}
