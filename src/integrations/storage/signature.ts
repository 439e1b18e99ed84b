// AWS Signature Version 4, for requests whose body's hash is known and whose address has no query: that is all that
// keeping files takes. Every header that is handed in is signed.
import { createHash, createHmac } from 'node:crypto'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

export interface UnsignedRequest {
  method: string
  url: URL
  /** Names in lower case. */
  headers: Record<string, string>
  /** SHA-256 of the body. */
  payload: string
  at: Date
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The headers to send: those handed in, and those that prove who sends them. (`host` goes without saying.) */
export function signedHeaders(
  { method, url, headers, payload, at }: UnsignedRequest,
  { accessKeyId, secretAccessKey, region }: Credentials,
): Record<string, string> {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const sent = { ...headers, 'x-amz-content-sha256': payload, 'x-amz-date': time }
  const signed = Object.entries({ ...sent, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const request = [
    method,
    url.pathname,
    '',
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    payload,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = [ALGORITHM, time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`
  return { ...sent, authorization }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
