// Test clocks in tests: made over the API, and moved by the job's own work.
import assert from 'node:assert/strict'
import { moveClock } from '../../src/features/test-clocks/jobs.ts'
import type { Bundle } from './setup.ts'
import { jobPart } from './sweep.ts'

const base = '/api/v1/test-clocks'

/** Its id. */
export async function testClock(bundle: Bundle, tenant_id: string, now: string): Promise<string> {
  const { status, body, text } = await bundle.call('POST', base, { body: { tenant_id, now } })
  assert.equal(status, 201, text)
  return body.data.id
}

/** As its job would move it, to its target. */
export const arrive = ({ ctx }: Bundle, id: string): Promise<void> => moveClock(ctx, id, jobPart())

export async function advance(bundle: Bundle, id: string, asked: object): Promise<void> {
  const { status, text } = await bundle.call('POST', `${base}/${id}/advance`, { body: asked })
  assert.equal(status, 202, text)
  await arrive(bundle, id)
}
