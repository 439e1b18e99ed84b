// The saga table of the specification, row by row: over HTTP, through the real queue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base, ended, type Journal, kindOf, run, start, statuses, step } from '../support/sagas.ts'
import { setup } from '../support/setup.ts'

test('a run whose steps all complete is completed, with a ledger row for each and their context added up', async t => {
  const journal: Journal = []
  const kinds = [
    kindOf(
      'three',
      ['a', 'b', 'c'].map(name => step(name, journal)),
    ),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const ran = await run(bundle, 'three', { size: 3 })
  assert.equal(ran.status, 'completed')
  assert.deepEqual(journal, ['execute a', 'execute b', 'execute c'])
  assert.deepEqual(ran.context, { a: true, b: true, c: true })
  assert.deepEqual(statuses(ran), ['completed', 'completed', 'completed'])
})

test('a step that fails, by an error or by raising, turns the run back: undone in reverse order, rolled_back, with index and reason', async t => {
  const journal: Journal = []
  const names = ['a', 'b', 'c']
  const failing = (at: string, how: 'returns' | 'raises') =>
    kindOf(
      `${at} ${how}`,
      names.map(name =>
        step(name, journal, {
          ...(name === at && {
            execute: async () => {
              if (how === 'raises') throw new Error('it broke')
              return { ok: false, reason: 'it broke' }
            },
          }),
        }),
      ),
    )
  const kinds = names.flatMap(at => [failing(at, 'returns'), failing(at, 'raises')])
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  for (const [index, at] of names.entries()) {
    for (const how of ['returns', 'raises']) {
      journal.length = 0
      const ran = await run(bundle, `${at} ${how}`)
      assert.equal(ran.status, 'rolled_back')
      assert.deepEqual(ran.error, { step_idx: index, step: at, reason: 'it broke' })
      const before = names.slice(0, index)
      assert.deepEqual(journal, [
        ...before.map(name => `execute ${name}`),
        `execute ${at}`,
        ...before.toReversed().map(name => `compensate ${name}`),
      ])
      assert.deepEqual(statuses(ran), [...before.map(() => 'compensated'), 'failed'])
    }
  }
})

test('a run cancelled between steps', async t => {
  const journal: Journal = []
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const kinds = [
    kindOf('held', [
      step('a', journal),
      step('b', journal, {
        execute: async () => {
          reached.resolve()
          await go.promise
          return { ok: true }
        },
      }),
      step('c', journal),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const { id } = await start(bundle, 'held')
  await reached.promise
  assert.equal((await bundle.call('POST', `${base}/${id}/cancel`)).status, 202)
  go.resolve()
  const ran = await ended(bundle, id)
  assert.equal(ran.status, 'rolled_back')
  assert.match(ran.error!.reason, /cancelled/)
  assert.deepEqual(journal, ['execute a', 'execute b', 'compensate b', 'compensate a'])
})
