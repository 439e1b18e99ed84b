// A worker that is killed in the middle of a step, for real, while another lives. What the rescue does then is tested on both
// engines in test/sagas/rescue.test.ts.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createPostgresDatabase } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { secrets, temporaryFolder } from '../support/process.ts'
import type { Question } from '../support/saga-worker.ts'
import { type ShownRun, statuses } from '../support/sagas.ts'

const program = join(import.meta.dirname, '../support/saga-worker.ts')

async function worker(t: TestContext, env: Record<string, string>) {
  const child = fork(program, [], {
    // Not the test runner's own: its reporters would write over each other.
    execArgv: [],
    env: { PATH: process.env.PATH, NODE_ENV: 'test', LOG_LEVEL: 'warn', ...secrets, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  t.after(kill)
  await once(child, 'message')
  const ask = async (question: Question): Promise<ShownRun> => {
    child.send(question)
    return (await once(child, 'message'))[0]
  }
  return { ask, kill }
}

test(
  'a run whose worker is killed in the middle of a step is found by another within 30 seconds and rolled back',
  onPostgresAlone,
  async t => {
    const JOURNAL = join(temporaryFolder(t), 'journal')
    writeFileSync(JOURNAL, '')
    const journal = () => readFileSync(JOURNAL, 'utf8').trim().split('\n')
    const database = await createPostgresDatabase()
    t.after(database.drop)
    const where = { JOURNAL, DATABASE_URL: database.url }

    const first = await worker(t, { ...where, HOLD: 'yes' })
    const { id } = await first.ask({ start: 'x' })
    await eventually('the second step runs', async () => {
      return journal().includes('execute b')
    })
    await first.kill()
    const killed = Date.now()
    const second = await worker(t, where)
    const run = await eventually(
      'it is rolled back',
      async () => {
        const shown = await second.ask({ show: id })
        return shown.status === 'rolled_back' && shown
      },
      30_000,
    )
    t.diagnostic(`${((Date.now() - killed) / 1000).toFixed(1)} s after the kill`)
    const reason = 'its outcome is unknown: the worker that ran it died'
    assert.deepEqual(run.error, { step_idx: 1, step: 'b', reason })
    assert.deepEqual(statuses(run), ['compensated', 'failed'])
    assert.deepEqual(journal(), [
      'execute a',
      'execute b',
      'compensate b knowing a',
      'compensate a knowing a',
    ])
  },
)
