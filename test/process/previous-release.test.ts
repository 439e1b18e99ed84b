// The release before this one works beside it on one database, as during an upgrade that rolls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { needsPostgres, testDatabaseUrl } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { deployment } from '../support/factories.ts'
import { databaseUrl } from '../support/prepare-databases.ts'
import {
  PREVIOUS_RELEASE,
  previousReleaseMissing,
  unpackPreviousRelease,
} from '../support/previous-release.ts'
import { startService } from '../support/process.ts'
import { dropletsOf, ended, ordersOf, provision } from '../support/provisioning.ts'
import { setup } from '../support/setup.ts'

test('a worker of the previous release beside this one: every run completes, no job is failed for being unknown, and one of them ticks', {
  skip: needsPostgres.skip || (previousReleaseMissing() ?? false),
}, async t => {
  const from = unpackPreviousRelease(t)
  if (from === undefined) return t.skip('the packages of the previous release cannot be installed here')
  const bundle = await setup(t, { worker: true, provider: {} })
  const { ctx, call } = bundle
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(ctx.db)
  const old = await startService(t, {
    command: 'worker',
    from,
    env: {
      DATABASE_URL: databaseUrl(testDatabaseUrl!, rows[0]!.name),
      DIGITALOCEAN_API_URL: ctx.config.DIGITALOCEAN_API_URL,
      DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
      LOG_LEVEL: 'info',
    },
  })
  const schedules = async () => (await sql`select name from pgboss.schedule`.execute(ctx.db)).rows.length
  assert.ok((await schedules()) > 0, `${PREVIOUS_RELEASE} lets pg-boss keep its schedule`)
  await ctx.jobs.dropSchedules()
  assert.equal(await schedules(), 0)

  const runs = []
  for (let i = 0; i < 12; i++) runs.push(await provision(bundle, (await deployment(bundle)).id))
  for (let i = 0; i < 5; i++) {
    const task = '/api/v1/admin/scheduled_tasks/leak_cleanup'
    const { body, status } = await call('POST', `${task}/run`)
    assert.equal(status, 202)
    await eventually('the new task has run', async () => {
      const { data } = (await call('GET', `${task}/runs/${body.data.id}`)).body
      return data.status === 'completed' && data.attempts === 1
    })
  }
  for (const { id } of runs) {
    const run = await ended(bundle, { id })
    assert.deepEqual([run.status, run.error], ['completed', null])
    assert.deepEqual([ordersOf(bundle, run), dropletsOf(bundle, run).length], [1, 1])
  }
  assert.deepEqual((await call('GET', '/api/v1/admin/dead_letters')).body.data, [])
  assert.doesNotMatch(old.output(), /knows no (job|step)/)
  t.diagnostic(
    `the previous release took ${old.output().match(/"msg":"saga running"/g)?.length ?? 0} of 12 runs`,
  )
  assert.deepEqual(await old.stop(), { code: 0, signal: null })
})
