// Sweeping in tests: through the API and the real queue, or one kind directly.
import assert from 'node:assert/strict'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import { eventually } from './eventually.ts'
import type { Bundle } from './setup.ts'

const RUNS_OF_A_SWEEP = 15

export interface SyncRun {
  id: string
  kind: Kind | 'project'
  status: string
  seen: number
  inserted: number
  updated: number
  struck: number
  deleted: number
  restored: number
  held: number
  error: string | null
}

/** An hour later: asks for the whole sweep and waits until every kind's record is finished. */
export async function sweepAll({ call, clock }: Bundle): Promise<Map<string, SyncRun>> {
  clock.advance(3_600_000)
  const requested = await call('POST', '/api/v1/admin/scheduled_tasks/resource_sync/run')
  assert.equal(requested.status, 202, requested.text)
  const { id } = requested.body.data
  const runs = await eventually('every kind is swept', async () => {
    const { body } = await call('GET', `/api/v1/inventory/sync-runs?sweep_id=${id}`)
    const finished = body.data.filter((run: SyncRun) => run.status !== 'running')
    return finished.length === RUNS_OF_A_SWEEP && (finished as SyncRun[])
  })
  await eventually('the task is free again', async () => {
    const { body } = await call('GET', `/api/v1/admin/scheduled_tasks/resource_sync/runs/${id}`)
    return body.data.status === 'completed'
  })
  return new Map(runs.map(run => [run.kind, run]))
}
