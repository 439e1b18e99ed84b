// A reporter for scripts/test.ts: a line of JSON for each test and suite that has ended.
import type { TestEvent } from 'node:test/reporters'

export interface Ended {
  file: string
  name: string
  /** Zero within a suite, whose own time it is part of. */
  ms: number
  outcome: 'passed' | 'failed' | 'skipped' | 'suite'
}

export default async function* ended(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { file = '', name, nesting, details, skip } = data
    const ms = nesting === 0 ? details.duration_ms : 0
    const result = type === 'test:fail' ? 'failed' : skip === undefined ? 'passed' : 'skipped'
    const line: Ended = { file, name, ms, outcome: details.type === 'suite' ? 'suite' : result }
    yield `${JSON.stringify(line)}\n`
  }
}
