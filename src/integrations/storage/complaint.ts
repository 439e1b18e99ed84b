// An S3-compatible service's refusal, in words that say what to mend. What is not known is shown as the service says it.

const MEND: Record<string, string> = {
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

export interface Complaint {
  words: string
  /** The service has no such object; without the bucket there is no telling. */
  missing: boolean
}

/** `xml` is what came with the status. Undefined: no such service speaks like that. */
export function readComplaint(status: number, xml: string): Complaint | undefined {
  const code = textOf(xml, 'Code')
  if (code === undefined) return undefined
  const missing = status === 404 && code !== 'NoSuchBucket'
  const known = MEND[code]
  if (known) return { words: `${known} (${code})`, missing }
  const message = textOf(xml, 'Message')
  const said = `the service answered ${status} ${code}`
  return { words: message === undefined ? said : `${said}: ${message}`, missing }
}

const textOf = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]{1,1000})</${tag}>`).exec(xml)?.[1]

/** The service's moment, not the request, is at fault: worth another try. */
export const mayPass = (status: number): boolean => status >= 500 || status === 429 || status === 408
