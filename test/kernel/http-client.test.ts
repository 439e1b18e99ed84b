// What every outgoing call has in common: a deadline, a bounded body, another attempt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoResponseError, readBody, UpstreamError, withDeadline } from '../../src/kernel/http-client.ts'
import { retry } from '../../src/kernel/retry.ts'

/** Ends when it is aborted, and says how. */
const hanging = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
  })

test('a call ends with its deadline, with its caller’s reason, or with the code of what went wrong', async () => {
  await assert.rejects(withDeadline({ timeoutMs: 5 }, hanging), (error: unknown) => {
    assert.ok(error instanceof NoResponseError && error.timedOut)
    assert.equal(error.message, 'no answer within 5 ms')
    return true
  })
  const stop = new AbortController()
  const waiting = withDeadline({ timeoutMs: 60_000, signal: stop.signal }, hanging)
  stop.abort(new Error('told to stop'))
  await assert.rejects(waiting, /^Error: told to stop$/)
  const never = withDeadline({ timeoutMs: 60_000, signal: stop.signal }, async () => 'called')
  await assert.rejects(never, /told to stop/)
  const refused = Object.assign(new Error('connect to https://secret@host'), { code: 'ECONNREFUSED' })
  await assert.rejects(
    withDeadline({ timeoutMs: 60_000 }, async () => {
      throw refused
    }),
    { name: 'NoResponseError', message: 'ECONNREFUSED', timedOut: false },
  )
  const said = new UpstreamError('the service said no')
  await assert.rejects(
    withDeadline({ timeoutMs: 60_000 }, async () => {
      throw said
    }),
    said,
  )
})

test('a deadline is over with the call, unless it covers a body that is read later', async () => {
  const signalOf = (coversBody: boolean, signal: AbortSignal) =>
    withDeadline({ timeoutMs: 60_000, signal, coversBody }, async signal => signal)
  for (const coversBody of [false, true]) {
    const stop = new AbortController()
    const given = await signalOf(coversBody, stop.signal)
    stop.abort(new Error('told to stop'))
    assert.equal(given.aborted, coversBody)
  }
})

test('a body is read up to its bound, and what came before it broke is kept only where that is wanted', async () => {
  let left = false
  async function* body(...pieces: (string | Error)[]) {
    try {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece
        yield Buffer.from(piece)
      }
    } finally {
      left = true
    }
  }
  const read = async (maxBytes: number, ...pieces: string[]) => {
    const { content, tooLong } = await readBody(body(...pieces), maxBytes)
    return [String(content), tooLong]
  }
  assert.deepEqual(await read(6, 'abc', 'def'), ['abcdef', false])
  assert.deepEqual(await read(5, 'abc', 'def', 'ghi'), ['abcde', true])
  assert.ok(left, 'the rest is not read')
  assert.deepEqual(await readBody(null, 1), { content: Buffer.alloc(0), tooLong: false })
  const broken = () => body('abc', new Error('broken'))
  await assert.rejects(readBody(broken(), 9), /broken/)
  assert.equal(String((await readBody(broken(), 9, { keepBroken: true })).content), 'abc')
  const seen: number[] = []
  await readBody(body('abc', 'd'), 9, { onChunk: (_, bytesSoFar) => void seen.push(bytesSoFar) })
  assert.deepEqual(seen, [3, 4])
})

test('an attempt is repeated after each pause until it succeeds, is not worth it, or is to stop', async () => {
  const pauses: number[] = []
  const sleep = async (ms: number) => void pauses.push(ms)
  let attempts = 0
  const failing = (times: number) => async () => {
    attempts += 1
    if (attempts <= times) throw new Error(`attempt ${attempts}`)
    return attempts
  }
  const pauseAfter = (_: unknown, tried: number) => (tried < 3 ? tried * 10 : null)
  assert.equal(await retry(failing(2), { pauseAfter, sleep }), 3)
  assert.deepEqual(pauses, [10, 20])
  attempts = 0
  await assert.rejects(retry(failing(9), { pauseAfter, sleep }), /attempt 3/)
  const signal = AbortSignal.abort(new Error('told to stop'))
  await assert.rejects(retry(failing(9), { pauseAfter, sleep, signal }), /told to stop/)
  assert.equal(attempts, 3)
  const stop = new AbortController()
  const waiting = retry(failing(9), { pauseAfter: () => 60_000, signal: stop.signal })
  setImmediate(() => stop.abort(new Error('told to stop')))
  await assert.rejects(waiting, /^Error: told to stop$/)
})
