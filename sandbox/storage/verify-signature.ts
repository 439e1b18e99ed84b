// Decides whether a request is signed as AWS Signature Version 4 asks, reading it as it arrived: the service's own signer is
// not used here, so that neither can be wrong in the way the other is.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export type Keys = { accessKeyId: string; secretAccessKey: string; region: string }

export type Refusal = { status: number; code: string; message: string }

const MUST_BE_SIGNED = ['host', 'x-amz-content-sha256', 'x-amz-date']
const LARGEST_SKEW_MS = 15 * 60_000
const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/,]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

const refused = (status: number, code: string, message: string): Refusal => ({ status, code, message })

/** Undefined when the signature is good. The body's hash is compared by whoever reads the body. */
export function refusalOf(request: IncomingMessage, keys: Keys, now: Date): Refusal | undefined {
  const parts = HEADER.exec(request.headers.authorization ?? '')
  if (!parts) return refused(403, 'AccessDenied', 'Access Denied')
  const [, accessKeyId, day, region, names, signature] = parts as unknown as string[]
  if (accessKeyId !== keys.accessKeyId)
    return refused(403, 'InvalidAccessKeyId', 'The access key does not exist in our records.')
  if (region !== keys.region)
    return refused(400, 'AuthorizationHeaderMalformed', `the region is wrong; expecting '${keys.region}'`)
  const signed = names!.split(';')
  if (MUST_BE_SIGNED.some(name => !signed.includes(name)) || signed.join() !== [...signed].sort().join())
    return refused(400, 'AuthorizationHeaderMalformed', 'headers that must be signed are not')
  const date = header(request, 'x-amz-date')
  const at = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(at - now.getTime()) <= LARGEST_SKEW_MS) || !date.startsWith(day!))
    return refused(403, 'RequestTimeTooSkewed', 'The difference between the times is too large.')
  const expected = signatureOf(request, keys, { day: day!, date, signed })
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature!)))
    return refused(403, 'SignatureDoesNotMatch', 'The signature we calculated is another one.')
  return undefined
}

function signatureOf(
  request: IncomingMessage,
  { secretAccessKey, region }: Keys,
  { day, date, signed }: { day: string; date: string; signed: string[] },
): string {
  const { pathname, searchParams } = new URL(request.url!, 'http://sandbox')
  let canonical = `${request.method}\n${pathname}\n${[...searchParams].sort().map(encoded).join('&')}\n`
  for (const name of signed) canonical += `${name}:${header(request, name).trim().replace(/ +/g, ' ')}\n`
  canonical += `\n${signed.join(';')}\n${header(request, 'x-amz-content-sha256')}`
  const digest = createHash('sha256').update(canonical).digest('hex')
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const dayKey = mac(`AWS4${secretAccessKey}`, day)
  const signing = mac(mac(mac(dayKey, region), 's3'), 'aws4_request')
  const text = `AWS4-HMAC-SHA256\n${date}\n${day}/${region}/s3/aws4_request\n${digest}`
  return mac(signing, text).toString('hex')
}

const encoded = ([name, value]: [string, string]) =>
  `${encodeURIComponent(name)}=${encodeURIComponent(value)}`

const header = ({ headers }: IncomingMessage, name: string): string => [headers[name] ?? ''].flat().join(',')
