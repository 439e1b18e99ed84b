// Where a webhook may point to, as far as its address tells. What a name resolves to is looked at when it is called.
import { addressIn, isLinkLocalAddress, isPublicAddress } from '../../kernel/addresses.ts'

/** Closed networks have receivers at private addresses; none is at a link-local one, where clouds keep credentials. */
export const addressAllowed =
  (allowPrivate: boolean) =>
  (address: string): boolean =>
    allowPrivate ? !isLinkLocalAddress(address) : isPublicAddress(address)

/** Why nothing can ever be sent there; null when it may be tried. */
export function refusalOf(address: string, allowPrivate: boolean): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https:// address'
  if (url.protocol === 'http:' && !allowPrivate) return 'must be an https:// address'
  if (url.username || url.password) return 'must hold no user name and no password'
  if (url.hash) return 'must have no fragment'
  const digits = addressIn(url)
  if (digits === undefined || addressAllowed(allowPrivate)(digits)) return null
  return allowPrivate ? 'must not point to a link-local address' : 'must not point to a private address'
}
