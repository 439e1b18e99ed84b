// So that every operation is tested under an Idempotency-Key by whichever tests it has: of the requests that a test makes
// to one operation, the first, the third and so on have a key. Once in a process the request is also sent again, and must
// get the same answer.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { operationAt } from './declared.ts'
import type { Answer } from './http.ts'

interface Key {
  text: string
  retry(first: Answer, send: () => Promise<Answer>): Promise<void>
}

const retried = new Set<string>()

/** For the requests of one test. */
export function keys(): (method: string, path: string) => Key | undefined {
  const counts = new Map<string, number>()
  return (method, path) => {
    const operation = method === 'POST' ? operationAt(method, path) : undefined
    if (!operation?.parameters?.some(({ name }) => name === 'Idempotency-Key')) return undefined
    const { operationId } = operation
    const count = counts.get(operationId) ?? 0
    counts.set(operationId, count + 1)
    if (count % 2 === 1) return undefined
    return {
      text: randomUUID(),
      async retry(first, send) {
        if (first.status >= 300 || retried.has(operationId)) return
        retried.add(operationId)
        const again = await send()
        assert.deepEqual([again.status, again.text], [first.status, first.text], `${operationId}, sent again`)
        assert.equal(again.headers.get('idempotency-replayed'), 'true', `${operationId}, sent again`)
      },
    }
  }
}
