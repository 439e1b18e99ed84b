// The finance service as this one sees it: one call that imports an invoice. It is sent once, with a token of its own, and
// answered by a receipt or by an error that says whether sending it again may help. Trying again is the queue's.
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { SignJWT } from 'jose'
import { type Dispatcher, request } from 'undici'
import { OWN_ISSUER } from '../../kernel/http/verify-token.ts'
import {
  createAgent,
  fitForDisplay,
  NoResponseError,
  readBody,
  requestHeaders,
  withDeadline,
} from '../../kernel/http-client.ts'
import type { Clock } from '../../kernel/time.ts'
import { FinanceError, faultOf, type Receipt, readReceipt, readRefusal } from './receipt.ts'

export interface Finance {
  /** Whose invoices these are at finance. */
  tenantId: string
  /** `body` is the payload as JSON text. Finance knows an invoice again, so sending it twice leaves one there. */
  importInvoice(body: string | Readable, options?: { signal?: AbortSignal }): Promise<Receipt>
  close(): Promise<void>
}

export interface FinanceLimits {
  /** How long finance may be silent, from the last byte of the invoice to the response. */
  silenceMs: number
  /** One push altogether. */
  pushMs: number
  /** A longer response is no receipt. */
  maxResponseBytes: number
}

const defaultFinanceLimits: FinanceLimits = {
  silenceMs: 30_000,
  pushMs: 600_000,
  maxResponseBytes: 64 * 1024,
}

export interface FinanceOptions {
  baseUrl: string
  secret: string
  tenantId: string
  clock: Clock
  limits?: Partial<FinanceLimits>
}

const IMPORT_PATH = '/api/v1/integrations/cloud/import-invoice'

interface Push {
  body: string | Readable
  token: string
  signal: AbortSignal
  /** Called as soon as the status is known: the body may still break off. */
  onStatus: (status: number) => void
}

export function createFinance({ baseUrl, secret, tenantId, clock, ...options }: FinanceOptions): Finance {
  const limits = { ...defaultFinanceLimits, ...options.limits }
  const mint = tokenMint({ secret, tenantId, clock })
  const dispatcher = createAgent({ connections: 4, silenceMs: limits.silenceMs })
  const url = baseUrl.replace(/\/+$/, '') + IMPORT_PATH

  async function send({ body, token, signal, onStatus }: Push): Promise<Receipt> {
    const response = await request(url, {
      method: 'POST',
      headers: requestHeaders({ token, json: true }),
      body,
      // Redirects are not followed: the token is for this address alone.
      dispatcher,
      signal,
    })
    const { statusCode: status } = response
    onStatus(status)
    const text = await boundedText(response, limits.maxResponseBytes)
    if (status >= 200 && status < 300) return readReceipt(text, status)
    const words = fitForDisplay(readRefusal(text) ?? 'no explanation', token)
    throw new FinanceError(`finance answered ${status}: ${words}`, faultOf(status), status)
  }

  return {
    tenantId,
    async importInvoice(body, { signal } = {}) {
      // A body that fails, or that nobody reads to its end, reports it here too; the request's own error says it already.
      if (typeof body !== 'string') body.on('error', () => {})
      signal?.throwIfAborted()
      const token = await mint()
      let status: number | null = null
      const onStatus = (said: number) => {
        status = said
      }
      try {
        return await withDeadline({ timeoutMs: limits.pushMs, signal }, signal =>
          send({ body, token, signal, onStatus }),
        )
      } catch (error) {
        if (typeof body !== 'string') body.destroy()
        if (!(error instanceof NoResponseError)) throw error
        const reason = fitForDisplay(error.message, token)
        throw new FinanceError(`finance did not answer (${reason})`, 'unavailable', status)
      }
    },
    // Not `close`, which waits for responses: jobs in flight have had their grace.
    close: () => dispatcher.destroy(),
  }
}

async function boundedText({ statusCode, body }: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const { content, tooLong } = await readBody(body, maxBytes)
  if (!tooLong) return content.toString('utf8')
  const fault = statusCode < 300 ? 'malformed' : faultOf(statusCode)
  throw new FinanceError(`finance answered ${statusCode} with too much`, fault, statusCode)
}

const TOKEN_SECONDS = 60
const TOKEN_AUDIENCE = 'finance'

/**
 * The only token this service makes: for one push, for a minute, in the name of the platform-admin tenant, with the role
 * that finance asks of whoever writes. Its issuer keeps it from being accepted by this service itself.
 */
function tokenMint({
  secret,
  tenantId,
  clock,
}: Pick<FinanceOptions, 'secret' | 'tenantId' | 'clock'>): () => Promise<string> {
  const key = Buffer.from(secret)
  return () => {
    const now = Math.floor(clock.now().getTime() / 1000)
    return new SignJWT({ tenant_id: tenantId, role: 'admin' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(OWN_ISSUER)
      .setAudience(TOKEN_AUDIENCE)
      .setSubject(OWN_ISSUER)
      .setJti(randomUUID())
      .setIssuedAt(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .sign(key)
  }
}
