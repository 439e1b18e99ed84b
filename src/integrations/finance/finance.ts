// The finance service as this one sees it: one call that imports an invoice. It is sent once, with a token of its own, and
// answered by a receipt or an error that says whether sending it again may help. Trying again is the queue's.
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher, request } from 'undici'
import { failureCode } from '../../kernel/errors.ts'
import type { Clock } from '../../kernel/time.ts'
import { FinanceError, faultOf, fitForDisplay } from './errors.ts'
import { tokenMint } from './mint-token.ts'
import { type Receipt, readComplaint, readReceipt } from './receipt.ts'

export interface Finance {
  /** Whose invoices these are at finance. */
  tenantId: string
  /** `body` is the payload as JSON text. Finance knows an invoice again, so sending it twice leaves one there. */
  importInvoice(body: string | Readable, options?: { signal?: AbortSignal }): Promise<Receipt>
  close(): Promise<void>
}

export interface FinanceLimits {
  /** How long finance may be silent, from the last byte of the invoice to the answer. */
  silenceMs: number
  /** One push altogether. */
  pushMs: number
  /** A longer answer is no receipt. */
  maxAnswerBytes: number
}

const defaultFinanceLimits: FinanceLimits = {
  silenceMs: 30_000,
  pushMs: 600_000,
  maxAnswerBytes: 64 * 1024,
}

export interface FinanceOptions {
  baseUrl: string
  secret: string
  tenantId: string
  clock: Clock
  limits?: Partial<FinanceLimits>
}

const IMPORT_PATH = '/api/v1/integrations/cloud/import-invoice'
const CONNECT_MS = 10_000

export function createFinance({ baseUrl, secret, tenantId, clock, ...options }: FinanceOptions): Finance {
  const limits = { ...defaultFinanceLimits, ...options.limits }
  const { silenceMs } = limits
  const mint = tokenMint({ secret, tenantId, clock })
  const dispatcher = new Agent({
    connections: 4,
    connect: { timeout: Math.min(CONNECT_MS, silenceMs) },
    // Counted anew with every piece of the body that is sent.
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
  const url = baseUrl.replace(/\/+$/, '') + IMPORT_PATH

  return {
    tenantId,
    async importInvoice(body, { signal } = {}) {
      // A body that fails, or that nobody reads to its end, reports it here too; the request's own error says it already.
      if (typeof body !== 'string') body.on('error', () => {})
      signal?.throwIfAborted()
      const token = await mint()
      const deadline = AbortSignal.timeout(limits.pushMs)
      let status: number | null = null
      try {
        const answer = await request(url, {
          method: 'POST',
          headers: {
            accept: 'application/json',
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'user-agent': 'cloudops',
          },
          body,
          // Redirects are not followed: the token is for this address alone.
          dispatcher,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        })
        status = answer.statusCode
        const text = await boundedText(answer, limits.maxAnswerBytes)
        if (status >= 200 && status < 300) return readReceipt(text, status)
        const words = fitForDisplay(readComplaint(text) ?? 'no explanation', token)
        throw new FinanceError(`finance answered ${status}: ${words}`, faultOf(status), status)
      } catch (error) {
        if (typeof body !== 'string') body.destroy()
        signal?.throwIfAborted()
        if (error instanceof FinanceError) throw error
        // The cause is left out on purpose: it belongs to the HTTP library and may show the request, token and all.
        const reason = deadline.aborted ? `no answer within ${limits.pushMs} ms` : failureCode(error)
        throw new FinanceError(
          `finance did not answer (${fitForDisplay(reason, token)})`,
          'unavailable',
          status,
        )
      }
    },
    // Not `close`, which waits for answers: jobs in flight have had their grace.
    close: () => dispatcher.destroy(),
  }
}

async function boundedText(answer: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    // Leaving the loop ends the connection, so that it does not keep pouring.
    if (bytes > maxBytes) {
      const fault = answer.statusCode < 300 ? 'malformed' : faultOf(answer.statusCode)
      throw new FinanceError(`finance answered ${answer.statusCode} with too much`, fault, answer.statusCode)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
