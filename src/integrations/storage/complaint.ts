// An S3-compatible service's refusal, in words that say what to mend. What is not known is shown as the service says it.

const MEND: Record<string, string> = {
  AccessDenied: 'the access key may not do this there',
  AuthorizationHeaderMalformed: 'the region is not the bucket’s',
  InvalidAccessKeyId: 'the access key id is not known there',
  NoSuchBucket: 'there is no such bucket',
  PermanentRedirect: 'the bucket is at another endpoint',
  RequestTimeTooSkewed: 'the database’s clock, which this service goes by, and the storage service’s differ too much',
  SignatureDoesNotMatch: 'the secret access key is not the one of this access key id',
  TemporaryRedirect: 'the bucket is at another endpoint',
}

export interface Complaint {
  words: string
  /** The service has no such object; without the bucket there is no telling. */
  missing: boolean
}

/** `xml` is what the service sent with the status, if anything. */
export function readComplaint(status: number, xml: string): Complaint {
  const code = textOf(xml, 'Code')
  const missing = status === 404 && code !== 'NoSuchBucket'
  if (code === undefined) return { words: byStatus(status), missing }
  const known = MEND[code]
  if (known) return { words: `${known} (${code})`, missing }
  const message = textOf(xml, 'Message')
  const said = `the service answered ${status} ${code}`
  return { words: message === undefined ? said : `${said}: ${message}`, missing }
}

/** For answers that explain nothing, as those to HEAD and from proxies. */
function byStatus(status: number): string {
  const said = `the service answered ${status}`
  if (status >= 300 && status < 400) return `${said}: ${MEND.PermanentRedirect}`
  return status === 401 || status === 403 ? `${said}: ${MEND.AccessDenied}` : said
}

const textOf = (xml: string, tag: string): string | undefined =>
  new RegExp(`<${tag}>([^<]{1,1000})</${tag}>`).exec(xml)?.[1]

/** The service's moment, not the request, is at fault: worth another try. */
export const mayPass = (status: number): boolean => status >= 500 || status === 429 || status === 408
