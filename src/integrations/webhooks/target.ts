// Where a webhook may point to, as far as its address tells. What a name resolves to is looked at when it is called.
import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

/** Why nothing can ever be sent there; null when it may be tried. */
export function refusalOf(address: string, allowPrivate: boolean): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https:// address'
  if (url.protocol === 'http:' && !allowPrivate) return 'must be an https:// address'
  if (url.username || url.password) return 'must hold no user name and no password'
  if (url.hash) return 'must have no fragment'
  if (allowPrivate) return null
  // However it was written (0x7f.1, 2130706433), the parser has made it the usual form.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'must not point to a private address'
  return null
}
