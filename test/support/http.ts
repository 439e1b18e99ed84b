// One request over HTTP, for whatever a test calls. Over node:http, so that a test can say which connection it goes over.
import { type Agent, request } from 'node:http'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
  text: string
}

export interface Sent {
  /** As a bearer, unless it is null. */
  token?: string | null
  body?: unknown
  /** Sent as it stands. */
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** False: a connection of its own. */
  agent?: Agent | false
}

/** The answer, its body parsed where it says that it is JSON. */
export function send(method: string, url: string, sent: Sent = {}): Promise<Answer> {
  const { token = null, body, headers, agent } = sent
  const content = sent.raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        // Node would frame the body of a DELETE in no way at all.
        ...(content !== undefined && { 'content-length': String(Buffer.byteLength(content)) }),
        ...headers,
      },
    })
    outgoing.on('error', reject).on('response', incoming => {
      let text = ''
      incoming
        .setEncoding('utf8')
        .on('data', chunk => {
          text += chunk
        })
        .on('error', reject)
        .on('end', () => {
          const answered = new Headers()
          for (const [name, values] of Object.entries(incoming.headersDistinct))
            for (const value of values ?? []) answered.append(name, value)
          const json = answered.get('content-type')?.includes('json') && text !== ''
          try {
            resolve({
              status: incoming.statusCode ?? 0,
              headers: answered,
              text,
              body: json ? JSON.parse(text) : undefined,
            })
          } catch (error) {
            reject(error)
          }
        })
    })
    outgoing.end(content)
  })
}
