import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fractionDone, lookedSince, runsOfSweep, type SweptKind } from '../../src/cli/tasks.ts'

const run = (sweep_id: string, kind: string, finished_at: string | null): SweptKind => ({
  sweep_id,
  kind,
  started_at: '2026-11-15T12:00:08.000Z',
  finished_at,
  status: finished_at === null ? 'running' : 'complete',
  pages: 1,
  seen: 50,
  total: 100,
  inserted: 0,
  updated: 0,
  struck: 0,
  deleted: 0,
  restored: 0,
  held: 0,
  error: null,
})

test('a kind that another sweep has in hand counts as swept when that one ends', () => {
  const started_at = '2026-11-15T12:00:10.000Z'
  const newest = [
    run('ours', 'volume', null),
    // It may end while the other jobs are still being sent.
    run('other', 'droplet', '2026-11-15T12:00:10.000Z'),
    run('ours', 'image', '2026-11-15T12:00:12.000Z'),
    run('other', 'volume', '2026-11-15T12:00:09.000Z'),
    run('other', 'image', '2026-11-15T12:00:11.000Z'),
    run('other', 'vpc', '2026-11-15T12:00:09.000Z'),
  ]
  const shown = runsOfSweep(newest, { id: 'ours', started_at }).map(({ kind, sweep_id }) => [kind, sweep_id])
  assert.deepEqual(shown.sort(), [
    ['droplet', 'other'],
    ['image', 'ours'],
    ['volume', 'ours'],
  ])
})

test('a sweep that counts what another had begun before it was asked for has not seen everything', () => {
  const runs = [run('ours', 'image', '2026-11-15T12:00:12.000Z')]
  assert.ok(lookedSince(runs, { requested_at: '2026-11-15T12:00:08.000Z' }))
  assert.ok(!lookedSince(runs, { requested_at: '2026-11-15T12:00:08.001Z' }))
})

test('how far a sweep is counts kinds that ended whole and the others by their rows', () => {
  assert.equal(fractionDone([]), 0)
  assert.equal(
    fractionDone([run('ours', 'image', '2026-11-15T12:00:12.000Z'), run('ours', 'volume', null)]),
    1.5 / 15,
  )
})
