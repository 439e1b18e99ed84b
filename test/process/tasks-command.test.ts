// The command line over scheduled tasks, as a process against the test's service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../support/process.ts'
import { anotherWorker, setup, testEnvironment } from '../support/setup.ts'

test(
  'cloudops tasks run --wait waits for a run that is under way, then for its own',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { url, tokens, call, logged } = bundle
    const runs = '/api/v1/admin/scheduled_tasks/housekeeping'
    const first = await call('POST', `${runs}/run`)
    assert.equal(first.status, 202)
    const env = { ...testEnvironment, CLOUDOPS_URL: url, CLOUDOPS_TOKEN: await tokens.admin() }
    const ran = runCommand(['tasks', 'run', 'housekeeping', '--wait'], { env })
    await eventually('it was refused', async () => logged().includes('already_running'))
    await anotherWorker(t, bundle)
    const { code, stdout, stderr } = await ran
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      /^housekeeping: one is under way, waiting for it to end\nhousekeeping: queued \(run /,
    )
    assert.doesNotMatch(stdout, new RegExp(first.body.data.id))
    assert.match(stdout, /housekeeping: completed\n$/)
  },
)
