// The release before this one works beside it on one database, as during an upgrade that rolls.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { needsPostgres, testDatabaseUrl } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { deployment } from '../support/factories.ts'
import type { Owner } from '../support/lasting.ts'
import { databaseUrl } from '../support/prepare-databases.ts'
import { startService, temporaryFolder } from '../support/process.ts'
import { dropletsOf, ordersOf, provision } from '../support/provisioning.ts'
import { ended } from '../support/sagas.ts'
import { setup } from '../support/setup.ts'

const root = join(import.meta.dirname, '../..')

/** To be moved on with each release. */
const PREVIOUS_RELEASE = '16597339f718acb0495d4175b48a4708a183118e'

/** Why it cannot be had here; undefined when it can. */
function previousReleaseMissing(): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`], { cwd: root, stdio: 'ignore' })
    return undefined
  } catch {
    return `the history here does not reach back to ${PREVIOUS_RELEASE}`
  }
}

/** Its launcher; undefined when its packages cannot be had. */
function unpackPreviousRelease(owner: Owner): string | undefined {
  const folder = join(temporaryFolder(owner), 'release')
  mkdirSync(folder)
  const archive = execFileSync('git', ['archive', PREVIOUS_RELEASE], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  try {
    // Its own, for this release may have dropped one. Mostly they are in npm's cache; no script is needed, Node is here.
    const args = ['ci', '--omit=dev', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', args, { cwd: folder, stdio: 'ignore', timeout: 120_000 })
  } catch {
    return undefined
  }
  return join(folder, 'bin/cloudops.js')
}

test('a worker of the previous release beside this one: every run completes, and no job is failed for being unknown', {
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
