// A reporter for scripts/test.ts: a line of JSON for each test and suite that has ended.
import type { TestEvent } from 'node:test/reporters'

export interface Ended {
  file: string
  name: string
  outcome: 'passed' | 'failed' | 'skipped' | 'suite'
}

export default async function* ended(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { file = '', name, details, skip } = data
    const result = type === 'test:fail' ? 'failed' : skip === undefined ? 'passed' : 'skipped'
    const line: Ended = { file, name, outcome: details.type === 'suite' ? 'suite' : result }
    yield `${JSON.stringify(line)}\n`
  }
}
