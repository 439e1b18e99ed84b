// What everything around a row costs: one authenticated, validated row through the whole service, beside the same row from
// a bare route. Both answer the same body; that is checked before anything is measured.
import { deepStrictEqual } from 'node:assert'
import { newId } from '../../src/kernel/ids.ts'
import { query } from '../database.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { bodyOf, measureUnderLoad } from '../load.ts'
import { startBareRoutes, startService } from '../process.ts'

const PATH = '/api/v1/admin/scheduled_tasks/housekeeping'

const figure = (name: string, peer: string, atLeast: number, unnamed: 'yes' | 'no'): Figure => ({
  name,
  measures: `\`GET ${PATH}\` through the service: JWT, role, validation, rate limit, security headers, CORS, request log, metrics.`,
  peer,
  unit: 'requests/s',
  bar: { atLeast },
  measure: bench => measure(bench, unnamed),
})

async function measure(bench: Bench, UNNAMED: 'yes' | 'no'): Promise<Measurement> {
  const url = await bench.database()
  const service = await startService(url, { role: 'platform_admin' })
  const ours = { ...service, path: PATH }
  await addRun(url)
  const body = await bodyOf<{ data: { next_run_at: string } }>(ours)
  const NEXT_RUN_AT = body.data.next_run_at
  const peer = { ...ours, server: await startBareRoutes(url, { NEXT_RUN_AT, UNNAMED }) }
  deepStrictEqual(await bodyOf(peer), body)
  const measured = await measureUnderLoad(bench, ours, peer)
  await ours.server.stop()
  await peer.server.stop()
  return measured
}

/** A task that has run, so that every column of the answer has something to carry. */
async function addRun(url: string): Promise<void> {
  const at = new Date().toISOString()
  await query(
    url,
    `insert into task_runs (id, task, trigger, requested_by, status, attempts, requested_at, started_at, finished_at)
     values ($1, 'housekeeping', 'manual', 'bench', 'completed', 1, $2, $2, $2)`,
    [newId(), at],
  )
}

export default [
  figure(
    'single-row-read',
    'the same row from a bare Fastify route with a hand-written parameterized `pg` query, as most people write one (`pool.query(text, values)`): no authentication, no schema, no log.',
    0.8,
    'yes',
  ),
  // The stricter sister: the service names its statements, which pays for some of what is around them. The specification
  // sets no bar for this one; ours is there to notice when that grows.
  figure(
    'single-row-read-prepared',
    'the bare route of single-row-read in its best form: its statement named, so that PostgreSQL plans it once for each connection.',
    0.6,
    'no',
  ),
]
