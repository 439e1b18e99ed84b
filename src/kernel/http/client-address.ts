// What counts as one address. Who has an IPv6 address mostly has 2^64 of them, so those are counted by their network.
import { isIP, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

const GROUPS = 8
const NETWORK_GROUPS = 4

export function networkOf(address: string): string {
  const plain = address.split('%')[0]!
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)
  if (mapped) return mapped[1]!
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().split('::')
  const groupsOf = (part: string) => (part === '' ? [] : part.split(':'))
  const first = groupsOf(head)
  const last = groupsOf(tail ?? '')
  // An embedded IPv4 address stands for the last two groups, which are no part of the network.
  const written = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array<string>(GROUPS - written).fill('0')
  const network = [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS)
  return `${network.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** The client's address. What a proxy passes on is not always one. */
export const addressOf = ({ ip, socket }: FastifyRequest): string =>
  isIP(ip) === 0 ? (socket.remoteAddress ?? 'unknown') : ip
