// A reporter for scripts/test.ts: a line of JSON for each test of the outermost level that has ended.
import type { TestEvent } from 'node:test/reporters'

export interface Ended {
  file: string
  name: string
  ms: number
  outcome: 'passed' | 'failed' | 'skipped'
}

export default async function* ended(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue
    const outcome = type === 'test:fail' ? 'failed' : data.skip === undefined ? 'passed' : 'skipped'
    const line: Ended = { file: data.file ?? '', name: data.name, ms: data.details.duration_ms, outcome }
    yield `${JSON.stringify(line)}\n`
  }
}
