// Usage events in tests: meters, events, and sending them.
import assert from 'node:assert/strict'
import type { Bundle } from './setup.ts'

export async function meterOf(
  { call }: Bundle,
  fields: { code: string; aggregation?: string; unit?: string; scale?: number },
): Promise<void> {
  const body = { aggregation: 'sum', unit: 'unit', ...fields }
  const { status, text } = await call('POST', '/api/v1/catalog/meters', { body })
  assert.equal(status, 201, text)
}

/** Of `llm_tokens`, one of them, at noon, unless told otherwise. */
export const event = (subject: string, fields: object) => ({
  specversion: '1.0',
  source: '/test',
  type: 'llm_tokens',
  subject,
  time: '2026-11-15T12:00:00Z',
  data: { value: 1 },
  ...fields,
})

/** What became of the events. */
export async function send({ call }: Bundle, body: object, token?: string) {
  const answer = await call('POST', '/api/v1/usage-events', { body, token })
  assert.equal(answer.status, 202, answer.text)
  return answer.body.data
}
