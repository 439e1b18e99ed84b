// Names are resolved here when a connection is made, and the addresses that were looked at are the ones that are connected
// to: a name that changes its mind in between (DNS rebinding) gains nothing.
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export type Resolve = (
  name: string,
  options: { all: true; family?: number | string },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The code of the error that refuses a name. */
export const PRIVATE_ADDRESS = 'PRIVATE_ADDRESS'

/** One address that is not public is enough to refuse the name. */
export function vettedLookup(resolve: Resolve = systemLookup as Resolve): LookupFunction {
  return (name, { family, all }, done) => {
    resolve(name, { all: true, family }, (error, addresses) => {
      const failure = error ?? refusal(addresses)
      if (failure) done(failure, [])
      else if (all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

function refusal(addresses: LookupAddress[]): NodeJS.ErrnoException | null {
  if (addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address))) return null
  return Object.assign(new Error('the name resolves to an address that is not public'), {
    code: PRIVATE_ADDRESS,
  })
}
