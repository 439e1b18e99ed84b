// A bucket of an S3-compatible service: objects are put in one request each, with their length and their hash, which the
// service checks before it keeps anything. What may pass is tried again a few times; redirects are not followed, for what
// is signed is for one address.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { AwsV4Signer } from 'aws4fetch'
import { type Dispatcher, request } from 'undici'
import { addressIn, isLinkLocalAddress, REFUSED_ADDRESS } from '../../kernel/addresses.ts'
import { fitForDisplay, NoResponseError, readBody, withDeadline } from '../../kernel/http-client.ts'
import { retry } from '../../kernel/retry.ts'
import type { Clock } from '../../kernel/time.ts'
import {
  type FileToPut,
  type ObjectStore,
  orMissing,
  StorageError,
  type StoreOptions,
  UNREACHABLE,
} from './object-store.ts'

export interface S3Limits {
  /** How long the service may be silent, from the last byte sent to the first of its response, and between two of them. */
  silenceMs: number
  /** One request altogether; the largest files take minutes. */
  requestMs: number
  attempts: number
  /** Before the second attempt; twice as long before each further one. */
  backoffMs: number
}

export interface S3Parts {
  dispatcher: Dispatcher
  clock: Clock
  limits: S3Limits
}

const LONGEST_ERROR = 64 * 1024

interface S3Request extends StoreOptions {
  method: 'PUT' | 'GET' | 'HEAD' | 'DELETE'
  key: string
  file?: FileToPut
}

/** Another try may help. */
class RetryableError extends StorageError {}

export function s3Store(bucket: Bucket & Credentials, { dispatcher, clock, limits }: S3Parts): ObjectStore {
  const { attempts, backoffMs, requestMs: timeoutMs } = limits

  /** One attempt, and every response that is not a 2xx turned into an error. */
  async function attempt({ method, key, file, signal }: S3Request): Promise<Dispatcher.ResponseData> {
    const url = objectUrl(bucket, key)
    const headers = await signedHeaders(
      {
        method,
        url,
        headers: file ? { 'content-length': String(file.bytes), 'content-type': 'text/csv' } : {},
        payload: file?.sha256 ?? NOTHING,
        at: clock.now(),
      },
      bucket,
    )
    const body = file?.open()
    // A body that nobody reads to its end reports it here too; the request's own error says it already.
    body?.on('error', () => {})
    try {
      return await withDeadline({ timeoutMs, signal, coversBody: true }, async signal => {
        const response = await request(url, { method, headers, body, dispatcher, signal })
        const { statusCode } = response
        if (statusCode >= 200 && statusCode < 300) return response
        throw await errorIn(response)
      })
    } catch (error) {
      body?.destroy()
      if (!(error instanceof NoResponseError)) throw error
      if (error.code === REFUSED_ADDRESS) throw new StorageError(`its endpoint ${LINK_LOCAL}`)
      throw new RetryableError(UNREACHABLE, 'unreachable', error.message)
    }
  }

  async function errorIn({ statusCode, body }: Dispatcher.ResponseData): Promise<StorageError> {
    // As much as is worth reading; one that breaks off explains nothing.
    const xml = await readBody(body, LONGEST_ERROR).then(
      ({ content }) => content.toString('utf8'),
      () => '',
    )
    const said = readS3Error(statusCode, xml)
    if (said?.missing) return new StorageError('the file is not there', 'missing')
    const Kind = isRetryable(statusCode) ? RetryableError : StorageError
    return said
      ? new Kind(fitForDisplay(said.words, bucket.secretAccessKey, '[secret]'))
      : new Kind(UNREACHABLE, 'unreachable', `status ${statusCode}`)
  }

  const send = (asked: S3Request) =>
    retry(() => attempt(asked), {
      signal: asked.signal,
      pauseAfter: (error, tried) =>
        error instanceof RetryableError && tried < attempts ? backoffMs * 2 ** (tried - 1) : null,
    })

  return {
    async put(key, file, options) {
      const { body, headers } = await send({ ...options, method: 'PUT', key, file })
      await body.dump()
      // Any web server may say 200; these services also say what they have kept.
      if (!headers.etag) throw new StorageError(UNREACHABLE, 'unreachable', 'the answer to a PUT has no ETag')
    },
    has(key, bytes, options) {
      const head = async () => {
        const { headers, body } = await send({ ...options, method: 'HEAD', key })
        await body.dump()
        return headers['content-length'] === String(bytes)
      }
      return orMissing(head())
    },
    async get(key, options): Promise<Readable> {
      return (await send({ ...options, method: 'GET', key })).body
    },
    async remove(key, options) {
      const remove = async () => {
        const { body } = await send({ ...options, method: 'DELETE', key })
        await body.dump()
        return true
      }
      await orMissing(remove())
    },
  }
}

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export interface UnsignedRequest {
  method: string
  url: URL
  headers: Record<string, string>
  /** SHA-256 of the body. */
  payload: string
  at: Date
}

const NOTHING = createHash('sha256').digest('hex')

/** The headers to send, signed after AWS Signature Version 4: those handed in, and those that prove who sends them. */
export async function signedHeaders(
  { method, url, headers, payload, at }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: Credentials,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': payload },
    accessKeyId,
    secretAccessKey,
    region,
    service: 's3',
    datetime: at.toISOString().replace(/[-:]|\.\d+/g, ''),
    // The length and the type as well, which it leaves out otherwise.
    allHeaders: true,
  })
  return Object.fromEntries((await signer.sign()).headers)
}

// The service's errors, in words that say what to correct. What is not known is shown as the service says it.

const EXPLANATIONS: Record<string, string> = {
  AccessDenied: 'the access key may not do this there',
  AuthorizationHeaderMalformed: 'the region is not the bucket’s',
  InvalidAccessKeyId: 'the access key id is not known there',
  NoSuchBucket: 'there is no such bucket',
  PermanentRedirect: 'the bucket is at another endpoint',
  RequestTimeTooSkewed:
    'the database’s clock, which this service goes by, and the storage service’s differ too much',
  SignatureDoesNotMatch: 'the secret access key is not the one of this access key id',
  TemporaryRedirect: 'the bucket is at another endpoint',
}

export interface S3Error {
  words: string
  /** The service has no such object; without the bucket there is no telling. */
  missing: boolean
}

/** `xml` is what came with the status. Undefined: no such service speaks like that. */
export function readS3Error(status: number, xml: string): S3Error | undefined {
  const code = textOf(xml, 'Code')
  if (code === undefined) return undefined
  const missing = status === 404 && code !== 'NoSuchBucket'
  const known = EXPLANATIONS[code]
  if (known) return { words: `${known} (${code})`, missing }
  const message = textOf(xml, 'Message')
  const said = `the service answered ${status} ${code}`
  return { words: message === undefined ? said : `${said}: ${message}`, missing }
}

const textOf = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]{1,1000})</${tag}>`).exec(xml)?.[1]

/** The service's moment, not the request, is at fault: worth another try. */
export const isRetryable = (status: number): boolean => status >= 500 || status === 429 || status === 408

// Which addresses an S3-compatible service may have: https, so that nobody on the way reads invoices; plain http to this
// machine alone, and never in production. Buckets in private networks are common; none has a link-local address.

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
