// A receiver of webhooks: a real HTTP server that checks each message by the public scheme, written without a look at the
// sender, and answers what the test says.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Owner } from './lasting.ts'
import type { Bundle } from './setup.ts'

export interface Received {
  /** With its query. */
  url: string
  headers: IncomingHttpHeaders
  /** As it came over the wire. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: events of every sort
  body: any
}

export interface Receiver {
  url: string
  received: Received[]
  /** What is answered from now on: a status, or whatever the function does. */
  answer: number | ((response: ServerResponse) => void)
}

export async function receiver(t: Owner): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      it.received.push({ url: request.url!, headers: request.headers, text, body: JSON.parse(text) })
      if (typeof it.answer === 'function') it.answer(response)
      else response.writeHead(it.answer).end('so be it')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const it: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: 200,
  }
  return it
}

const TOLERANCE_SECONDS = 300

/** Whether a message is from the one who has the secret, and of now. */
export function verified({ headers, text }: Received, secret: string, now: Date): boolean {
  const header = (name: string) => String(headers[name])
  const age = Math.abs(now.getTime() / 1000 - Number(header('webhook-timestamp')))
  if (!(age <= TOLERANCE_SECONDS)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const content = [header('webhook-id'), header('webhook-timestamp'), text].join('.')
  const expected = createHmac('sha256', key).update(content).digest()
  return header('webhook-signature')
    .split(' ')
    .filter(each => each.startsWith('v1,'))
    .map(each => Buffer.from(each.slice(3), 'base64'))
    .some(given => given.length === expected.length && timingSafeEqual(given, expected))
}

export const hooks = '/api/v1/admin/webhooks'

/** So that a receiver of the test's own can be reached. */
export const allowPrivate = { WEBHOOKS_ALLOW_PRIVATE: 'true' }

/** A webhook, with its secret. */
export async function webhook(
  { call }: Pick<Bundle, 'call'>,
  fields: { url: string; [field: string]: unknown },
) {
  const { status, body, text } = await call('POST', hooks, { body: { events: ['*'], ...fields } })
  if (status !== 201) throw new Error(text)
  return body.data
}

/** Its deliveries, newest first. */
export async function deliveries({ call }: Pick<Bundle, 'call'>, id: string, query = '') {
  const { status, body, text } = await call('GET', `${hooks}/${id}/deliveries${query}`)
  if (status !== 200) throw new Error(text)
  return body.data
}
