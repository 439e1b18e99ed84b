// A reporter for scripts/test.ts: a line of JSON for each test and suite that has ended.
import type { TestEvent } from 'node:test/reporters'

export interface Ended {
  file: string
  name: string
  outcome: 'passed' | 'failed' | 'skipped' | 'suite'
  /** Of one that failed: what was thrown. */
  reason?: string
}

export default async function* ended(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { file = '', name, details, skip } = data
    const result = type === 'test:fail' ? 'failed' : skip === undefined ? 'passed' : 'skipped'
    const outcome = details.type === 'suite' ? 'suite' : result
    const line: Ended = {
      file,
      name,
      outcome,
      ...(outcome === 'failed' && 'error' in details && { reason: reasonOf(details.error) }),
    }
    yield `${JSON.stringify(line)}\n`
  }
}

/** The runner wraps what a test threw. */
function reasonOf(error: Error): string {
  const thrown = error.cause instanceof Error ? error.cause : error
  return thrown.message
}
