// Names are resolved here when a connection is made, and the addresses that were looked at are the ones that are connected
// to: a name that changes its mind in between (DNS rebinding) gains nothing.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

export type Resolve = (
  name: string,
  options: { all: true; family?: number | string },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The code of the error that refuses a name. */
export const REFUSED_ADDRESS = 'REFUSED_ADDRESS'

/** One address that is not allowed is enough to refuse the name. */
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
