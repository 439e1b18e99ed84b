import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { settleAfterRefusal } from '../support/settling.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/admin/scheduled_tasks'

/** Asks for a run and waits for its end. */
async function runToEnd({ call }: Bundle, name: string) {
  const requested = await call('POST', `${base}/${name}/run`)
  assert.equal(requested.status, 202, requested.text)
  const location = requested.headers.get('location') ?? ''
  return eventually(`${name} ends`, async () => {
    const { body } = await call('GET', location)
    return ['queued', 'running'].includes(body.data.status) ? undefined : body.data
  })
}

test('the cron table is listed with queue, schedule, last and next run', async t => {
  const { call } = await setup(t)
  const { status, body } = await call('GET', base)
  assert.equal(status, 200)
  const task = body.data.find((row: { name: string }) => row.name === 'housekeeping')
  const schedule = new Map(
    body.data.map((row: { name: string; cron: string; queue: string }) => [row.name, [row.cron, row.queue]]),
  )
  assert.deepEqual(schedule.get('balance'), ['7 * * * *', 'cloud_billing'])
  assert.deepEqual(schedule.get('resource_sync'), ['15 * * * *', 'cloud_sync_full'])
  assert.deepEqual(schedule.get('drift_detection'), ['20 * * * *', 'metering'])
  assert.deepEqual(schedule.get('findings'), ['25 * * * *', 'metering'])
  assert.deepEqual(schedule.get('metering'), ['40 * * * *', 'metering'])
  assert.deepEqual(schedule.get('billing_history'), ['23 2 * * *', 'cloud_billing'])
  assert.equal(task.cron, '41 3 * * *')
  assert.equal(task.queue, 'metering')
  assert.equal(task.paused, false)
  assert.equal(task.last_run, null)
  assert.match(task.next_run_at, /T03:41:00\.000Z$/)
})

test('a run that is asked for is queued, run by the worker and recorded with who asked', async t => {
  const bundle = await setup(t, { worker: true })
  const run = await runToEnd(bundle, 'housekeeping')
  assert.equal(run.status, 'completed')
  assert.equal(run.trigger, 'manual')
  assert.equal(run.requested_by, 'ada')
  assert.equal(run.attempts, 1)
  assert.equal(run.error, null)
  const { body } = await bundle.call('GET', `${base}/housekeeping`)
  assert.equal(body.data.last_run.id, run.id)
})

test('a task that is queued already is not queued again: 409', async t => {
  const { call } = await setup(t)
  assert.equal((await call('POST', `${base}/housekeeping/run`)).status, 202)
  const second = await call('POST', `${base}/housekeeping/run`)
  assert.equal(second.status, 409)
  assert.equal(second.body.code, 'already_running')
  const { body } = await call('GET', `${base}/housekeeping/runs`)
  assert.equal(body.data.length, 1)
})

test('a task whose run is shown as completed can be asked for again, though its job is not settled yet', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  await call('POST', `${base}/housekeeping/run`)
  await ctx.db.updateTable('task_runs').set({ status: 'completed' }).execute()
  settleAfterRefusal(bundle)
  assert.equal((await call('POST', `${base}/housekeeping/run`)).status, 202)
})

test('pausing and resuming may be said twice, and the first pause keeps its author', async t => {
  const { call, tokens } = await setup(t)
  const paused = await call('POST', `${base}/housekeeping/pause`)
  assert.equal(paused.body.data.paused, true)
  assert.equal(paused.body.data.paused_by, 'ada')
  assert.equal(paused.body.data.next_run_at, null)
  const again = await call('POST', `${base}/housekeeping/pause`, {
    token: await tokens.admin({ sub: 'grace' }),
  })
  assert.equal(again.body.data.paused_by, 'ada')
  for (let i = 0; i < 2; i++) {
    const resumed = await call('POST', `${base}/housekeeping/resume`)
    assert.equal(resumed.body.data.paused, false)
    assert.equal(resumed.body.data.paused_at, null)
  }
})

test('an operator’s request runs a paused task all the same', async t => {
  const bundle = await setup(t, { worker: true })
  await bundle.call('POST', `${base}/housekeeping/pause`)
  assert.equal((await runToEnd(bundle, 'housekeeping')).status, 'completed')
})

test('runs are paged newest first, each once, while new ones arrive', async t => {
  const bundle = await setup(t, { worker: true })
  const made: string[] = []
  for (let i = 0; i < 5; i++) made.unshift((await runToEnd(bundle, 'housekeeping')).id)
  const seen: string[] = []
  let next: string | null = `${base}/housekeeping/runs?limit=2`
  while (next) {
    const { body, headers }: Awaited<ReturnType<Bundle['call']>> = await bundle.call('GET', next)
    seen.push(...body.data.map((run: { id: string }) => run.id))
    if (seen.length === 2) await runToEnd(bundle, 'housekeeping')
    const link = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')
    assert.equal(link !== null, body.next_cursor !== null)
    next = link?.[1] ?? null
  }
  assert.deepEqual(seen, made)
})

test('a cursor of one listing is refused by another', async t => {
  const bundle = await setup(t, { worker: true })
  await runToEnd(bundle, 'housekeeping')
  await runToEnd(bundle, 'housekeeping')
  const { body } = await bundle.call('GET', `${base}/housekeeping/runs?limit=1`)
  const { status } = await bundle.call('GET', `${base}?cursor=${body.next_cursor}`)
  assert.equal(status, 422)
})

test('scheduled tasks are for a platform_admin alone', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const requests = [
    ['GET', ''],
    ['GET', '/housekeeping'],
    ['GET', '/housekeeping/runs'],
    ['POST', '/housekeeping/run'],
    ['POST', '/housekeeping/pause'],
    ['POST', '/housekeeping/resume'],
  ]
  for (const [method, path] of requests) {
    const { status, body } = await call(method!, base + path, { token })
    assert.equal(status, 403, `${method} ${path}`)
    assert.equal(body.code, 'forbidden')
  }
})

test('housekeeping deletes runs older than 90 days and keeps the others', async t => {
  const bundle = await setup(t, { worker: true })
  const old = await runToEnd(bundle, 'housekeeping')
  bundle.clock.advance(91 * 86_400_000)
  await runToEnd(bundle, 'housekeeping')
  const { body } = await bundle.call('GET', `${base}/housekeeping/runs`, {
    token: await bundle.tokens.admin(),
  })
  assert.equal(body.data.length, 1)
  assert.notEqual(body.data[0].id, old.id)
})
