// A bucket of an S3-compatible service: objects are put in one request each, with their length and their hash, which the
// service checks before it keeps anything. What may pass is tried again a few times; redirects are not followed, for what
// is signed is for one address.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { REFUSED_ADDRESS } from '../../kernel/addresses.ts'
import { failureCode } from '../../kernel/errors.ts'
import type { Clock } from '../../kernel/time.ts'
import { mayPass, readComplaint } from './complaint.ts'
import { type Bucket, LINK_LOCAL, objectUrl } from './endpoint.ts'
import { fitForDisplay, orMissing, StorageError, UNREACHABLE } from './errors.ts'
import { type Credentials, signedHeaders } from './signature.ts'
import type { Asked, FileToPut, Store } from './store.ts'

export interface S3Limits {
  /** How long the service may be silent, from the last byte sent to the first of its answer, and between two of them. */
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

const NOTHING = createHash('sha256').digest('hex')
const LONGEST_COMPLAINT = 64 * 1024

interface Exchange extends Asked {
  method: 'PUT' | 'GET' | 'HEAD' | 'DELETE'
  key: string
  file?: FileToPut
}

/** An answer, or what went wrong and whether another try may help. */
type Outcome = { answer: Dispatcher.ResponseData } | { error: StorageError; mayPass: boolean }

const unreachable = (reason: string) => new StorageError(UNREACHABLE, 'unreachable', reason)

export function s3Store(place: Bucket & Credentials, { dispatcher, clock, limits }: S3Parts): Store {
  async function once({ method, key, file, signal }: Exchange): Promise<Outcome> {
    const url = objectUrl(place, key)
    const headers: Record<string, string> = file
      ? { 'content-length': String(file.bytes), 'content-type': 'text/csv' }
      : {}
    const payload = file?.sha256 ?? NOTHING
    const body = file?.open()
    // A body that nobody reads to its end reports it here too; the request's own error says it already.
    body?.on('error', () => {})
    const deadline = AbortSignal.timeout(limits.requestMs)
    try {
      const answer = await request(url, {
        method,
        headers: signedHeaders({ method, url, headers, payload, at: clock.now() }, place),
        body,
        dispatcher,
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      })
      return { answer }
    } catch (error) {
      body?.destroy()
      signal?.throwIfAborted()
      // The cause is left out on purpose: it belongs to the HTTP library and may show the request.
      const reason = deadline.aborted ? `no answer within ${limits.requestMs} ms` : failureCode(error)
      if (reason === REFUSED_ADDRESS)
        return { error: new StorageError(`its endpoint ${LINK_LOCAL}`), mayPass: false }
      return { error: unreachable(reason), mayPass: true }
    }
  }

  /** The answer to the first attempt that is one; its status is one of the 200s. */
  async function exchange(asked: Exchange): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt++) {
      asked.signal?.throwIfAborted()
      let outcome = await once(asked)
      if ('answer' in outcome) {
        const { statusCode } = outcome.answer
        if (statusCode >= 200 && statusCode < 300) return outcome.answer
        const complaint = readComplaint(statusCode, await boundedText(outcome.answer))
        if (complaint?.missing) throw new StorageError('the file is not there', 'missing')
        const error = complaint
          ? new StorageError(fitForDisplay(complaint.words, place.secretAccessKey))
          : unreachable(`status ${statusCode}`)
        outcome = { error, mayPass: mayPass(statusCode) }
      }
      if (!outcome.mayPass || attempt >= limits.attempts) throw outcome.error
      await pause(limits.backoffMs * 2 ** (attempt - 1), undefined, { signal: asked.signal })
    }
  }

  return {
    async put(key, file, asked) {
      const { body, headers } = await exchange({ ...asked, method: 'PUT', key, file })
      await body.dump()
      // Any web server may say 200; these services also say what they have kept.
      if (!headers.etag) throw unreachable('the answer to a PUT has no ETag')
    },
    has(key, bytes, asked) {
      const look = async () => {
        const { headers, body } = await exchange({ ...asked, method: 'HEAD', key })
        await body.dump()
        return headers['content-length'] === String(bytes)
      }
      return orMissing(look())
    },
    async get(key, asked): Promise<Readable> {
      return (await exchange({ ...asked, method: 'GET', key })).body
    },
    async remove(key, asked) {
      try {
        const { body } = await exchange({ ...asked, method: 'DELETE', key })
        await body.dump()
      } catch (error) {
        if (!(error instanceof StorageError && error.fault === 'missing')) throw error
      }
    },
  }
}

/** As much of a complaint as is worth reading; one that breaks off explains nothing. */
async function boundedText(answer: Dispatcher.ResponseData): Promise<string> {
  let text = ''
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString('latin1')
      if (text.length > LONGEST_COMPLAINT) break
    }
  } catch {
    return ''
  }
  return Buffer.from(text, 'latin1').toString('utf8')
}
