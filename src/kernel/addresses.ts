// Which addresses are out in the public: not ours, not the machine's, not the network's that the service runs in. An address
// that people choose, a webhook's or a storage backend's, must not become a way to call what only the service can reach.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Networks that are special, private or nobody's, by IANA's registries. */
const REFUSED_4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, and where clouds keep their metadata.
  ['169.254.0.0', 16],
  // The wire server of one cloud, at a public address.
  ['168.63.129.16', 32],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, and all above it.
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/** Within global unicast. The first and the third can stand for an IPv4 address of any sort. */
const REFUSED_6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const refused = new BlockList()
for (const [net, bits] of REFUSED_4) refused.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of REFUSED_6) refused.addSubnet(net, bits, 'ipv6')
/** Everything else of IPv6 is local, mapped, translated or not given out. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** False for what is no address at all. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !refused.check(address, 'ipv4')
  return family === 6 && globalUnicast.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}

/** Link-local, and what else is answered by the machine's own cloud with its credentials, however it is written. */
const linkLocal = new BlockList()
for (const [net, bits] of [
  ['169.254.0.0', 16],
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
] as const) {
  linkLocal.addSubnet(net, bits, 'ipv4')
  // The same in IPv6: mapped, compatible, and translated on the way.
  for (const prefix of ['::ffff:', '::', '64:ff9b::']) linkLocal.addSubnet(prefix + net, 96 + bits, 'ipv6')
}
for (const [net, bits] of [
  ['fe80::', 10],
  // 6to4 of the first above.
  ['2002:a9fe::', 32],
  ['fd00:ec2::254', 128],
] as const)
  linkLocal.addSubnet(net, bits, 'ipv6')

/** Nobody keeps anything there, in no network. */
export function isLinkLocalAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  return linkLocal.check(address.split('%')[0]!, family === 4 ? 'ipv4' : 'ipv6')
}

/** An address as a URL has it, or undefined for a name. However it was written (0x7f.1, 2130706433), it is the usual form. */
export function addressIn({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? undefined : host
}

export type Resolve = (
  name: string,
  options: { all: true; family?: number | string },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The code of the error that refuses a name. */
export const REFUSED_ADDRESS = 'REFUSED_ADDRESS'

/**
 * Resolves names when a connection is made, so that the addresses that were looked at are the ones connected to: a name that
 * changes its mind in between (DNS rebinding) gains nothing. One address that is not allowed is enough to refuse the name.
 */
export function vettedLookup(
  allowed: (address: string) => boolean,
  resolve: Resolve = systemLookup as Resolve,
): LookupFunction {
  return (name, { family, all }, done) => {
    resolve(name, { all: true, family }, (error, addresses) => {
      const good = () => addresses.length > 0 && addresses.every(({ address }) => allowed(address))
      if (error) done(error, [])
      else if (!good()) done(refusal(), [])
      else if (all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

const refusal = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the name resolves to an address that is not allowed'), { code: REFUSED_ADDRESS })
