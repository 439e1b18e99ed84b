// Which addresses an S3-compatible service may have: https, so that nobody on the way reads invoices; plain http to this
// machine alone, and never in production. Buckets in private networks are common; none has a link-local address.
import { addressIn, isLinkLocalAddress } from '../../kernel/addresses.ts'

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** The same words, whether it is written or a name resolves to it. */
export const LINK_LOCAL = 'must not point to a link-local address'

/** What is wrong with the address; undefined when nothing is. */
export function endpointProblem(
  endpoint: string,
  { pathStyle, production }: { pathStyle: boolean; production: boolean },
): string | undefined {
  const url = URL.parse(endpoint)
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an https:// address'
  if (url.username || url.password) return 'must not hold a user name or password'
  if (url.search || url.hash) return 'must not have a query or a fragment'
  if (url.protocol === 'http:' && production) return 'must be an https:// address in production'
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    return 'must be an https:// address, unless it is on this machine'
  const digits = addressIn(url)
  if (digits !== undefined && isLinkLocalAddress(digits)) return LINK_LOCAL
  if (!pathStyle && digits !== undefined)
    return 'is an IP address, before which no bucket can be named: it needs path_style'
  return undefined
}

export interface Bucket {
  endpoint: string
  bucket: string
  /** What every key in the bucket begins with; without slashes at its ends. */
  prefix: string | null
  /** Whether the bucket is named in the path; otherwise it is part of the host's name. */
  pathStyle: boolean
}

/** Where an object is. Nothing needs to be escaped: buckets, prefixes and keys are of harmless characters. */
export function objectUrl({ endpoint, bucket, prefix, pathStyle }: Bucket, key: string): URL {
  const url = new URL(endpoint)
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`
  const base = url.pathname.replace(/\/+$/, '')
  url.pathname = [base, ...(pathStyle ? [bucket] : []), ...(prefix ? [prefix] : []), key].join('/')
  return url
}
