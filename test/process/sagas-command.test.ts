// The command line over runs, as a process against the test's service.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { type DrawnRun, drawRun, duration } from '../../src/cli/sagas.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { base, ended, gate, type Journal, kindOf, show, start, step } from '../support/sagas.ts'
import { type Bundle, setup, testEnvironment } from '../support/setup.ts'

const launcher = join(import.meta.dirname, '../../bin/cloudops.js')

async function cloudops({ url, tokens }: Bundle, ...args: string[]) {
  const env = {
    ...testEnvironment,
    PATH: process.env.PATH,
    CLOUDOPS_URL: url,
    CLOUDOPS_TOKEN: await tokens.admin(),
  }
  const child = spawn(process.execPath, [launcher, 'sagas', ...args], { cwd: tmpdir(), env })
  const ran = { code: null as number | null, out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', chunk => {
    ran.out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    ran.err += chunk
  })
  const closed = once(child, 'close').then(([code]) => ({ ...ran, code: code as number | null }))
  return { closed, out: () => ran.out }
}

test(
  'cloudops sagas lists runs, draws one, follows it to its end and cancels it',
  onPostgresAlone,
  async t => {
    const journal: Journal = []
    const held = gate()
    const kinds = [
      kindOf('build', [
        step('prepare', journal),
        step('create', journal, {
          execute: async () => {
            await held.pass()
            return { ok: true }
          },
        }),
        step('record', journal),
      ]),
    ]
    const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
    t.after(() => held.open())
    const { id } = await start(bundle, 'build')
    await held.reached

    const [list, drawn, wrong] = await Promise.all([
      (await cloudops(bundle, 'list', '--status', 'running')).closed,
      (await cloudops(bundle, 'show', id)).closed,
      (await cloudops(bundle, 'show')).closed,
    ])
    assert.equal(list.code, 0, list.err)
    assert.match(list.out, new RegExp(`^ID +KIND +STATUS +STEPS.*\\n${id} +build +running +1/3 `))
    assert.equal(drawn.code, 0, drawn.err)
    assert.match(drawn.out, new RegExp(`^build ${id}: running\n`))
    assert.match(drawn.out, /✔ prepare +completed +\d+ ms\n +● create +running +\d.*\n +· record\n$/)
    assert.equal(wrong.code, 2)

    const following = await cloudops(bundle, 'show', id, '--watch')
    const cancelled = await (await cloudops(bundle, 'cancel', id)).closed
    assert.equal(cancelled.out, 'build: running, cancel requested\n')
    await eventually('it tells of the step', async () => following.out().includes('create'))
    held.open()
    const followed = await following.closed
    assert.equal((await ended(bundle, id)).status, 'rolled_back')
    assert.match(followed.out, /● create +running/)
    assert.match(followed.out, /↩ prepare +compensated[\s\S]*build: rolled_back\n$/)
    assert.deepEqual([followed.code, followed.err], [1, 'rolled_back: cancelled by ada\n'])
    const again = await bundle.call('POST', `${base}/${id}/cancel`)
    assert.equal(again.status, 409)
    assert.equal((await show(bundle, id)).status, 'rolled_back')
  },
)

test(
  'a drawing shows every step of the run, what went wrong, and how long things took',
  onPostgresAlone,
  () => {
    const run: DrawnRun = {
      id: 'x',
      kind: 'build',
      status: 'compensating',
      step_modules: ['a', 'longer', 'c'],
      current_step_index: 1,
      cancel_requested: true,
      error: { step_idx: 1, step: 'longer', reason: 'no room' },
      created_at: '2026-11-15T12:00:00.000Z',
      steps: [
        {
          step_idx: 0,
          name: 'a',
          status: 'running',
          started_at: '2026-11-15T12:00:00.000Z',
          duration_ms: null,
          error: null,
        },
        {
          step_idx: 1,
          name: 'longer',
          status: 'failed',
          started_at: '2026-11-15T12:00:01.000Z',
          duration_ms: 2_500,
          error: 'no room',
        },
      ],
    }
    assert.equal(
      stripVTControlCharacters(drawRun(run, Date.parse('2026-11-15T12:01:05.000Z'))),
      [
        'build x: compensating, cancel requested',
        '  ● a       running      1 min 5 s',
        '  ✖ longer  failed       2.5 s  no room',
        '  · c',
        'step 1 (longer): no room',
      ].join('\n'),
    )
    assert.deepEqual([0, 999, 1_000, 59_940, 3_600_000].map(duration), [
      '0 ms',
      '999 ms',
      '1.0 s',
      '59.9 s',
      '60 min 0 s',
    ])
  },
)
