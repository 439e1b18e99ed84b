// A short run of the generated fault sweeps; `npm run chaos:sweeps` is the long one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestEngine } from '../../../support/database.ts'
import { chaosSweeps } from './run.ts'

test('generated sweeps, faults and changes end as the lifecycle says: no wrong strike, deletion or event, no endless paging', async t => {
  const { engine, close } = await openTestEngine()
  t.after(close)
  const figures = await chaosSweeps({ engine, sweeps: 150, seed: 3 })
  const { complete, partial, failed, lost, repeated } = figures.outcomes
  // It would prove little had it not met both: whole listings and all ways to end otherwise, and every kind of event.
  for (const [what, count] of Object.entries({
    complete,
    partial,
    failed,
    lost,
    repeated,
    ...figures.events,
    strikes: figures.strikes,
  }))
    assert.ok(count > 0, `${what}: ${JSON.stringify(figures)}`)
})
