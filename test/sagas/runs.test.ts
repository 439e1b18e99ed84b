// The saga table of the specification, row by row: over HTTP, through the real queue.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDriver } from '../../src/features/sagas/driver.ts'
import type { SagaState } from '../../src/features/sagas/index.ts'
import { registryOf } from '../../src/features/sagas/step.ts'
import { eventually } from '../support/eventually.ts'
import { aroundStatements } from '../support/inspect-database.ts'
import {
  base,
  ended,
  gate,
  type Journal,
  kindOf,
  run,
  show,
  start,
  statuses,
  step,
} from '../support/sagas.ts'
import { anotherWorker, setup } from '../support/setup.ts'

const names = ['a', 'b', 'c']

test('a run whose steps all complete is completed, with a ledger row for each and their context added up', async t => {
  const journal: Journal = []
  const seen: SagaState[] = []
  const watching = (name: string) =>
    step(name, journal, {
      execute: async state => {
        seen.push(state)
        return { ok: true, context: { [name]: { by: name }, latest: name }, output: { did: name } }
      },
    })
  const kinds = [kindOf('three', names.map(watching))]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const pending = await start(bundle, 'three', { size: 3 })
  assert.deepEqual(
    [pending.status, pending.steps, pending.started_at, pending.current_step_index],
    ['pending', [], null, 0],
  )
  const ran = await ended(bundle, pending.id)
  assert.equal(ran.status, 'completed')
  assert.deepEqual([ran.error, ran.cancel_requested, ran.current_step_index], [null, false, 3])
  assert.deepEqual(journal, ['execute a', 'execute b', 'execute c'])
  assert.deepEqual(ran.context, { a: { by: 'a' }, b: { by: 'b' }, c: { by: 'c' }, latest: 'c' })
  assert.deepEqual(ran.step_modules, names)
  for (const [index, one] of ran.steps.entries()) {
    const { started_at, finished_at, duration_ms, ...rest } = one
    const expected = { step_idx: index, name: names[index], status: 'completed', attempts: 1, error: null }
    assert.deepEqual(rest, { ...expected, output: { did: names[index] }, compensated_at: null })
    assert.equal(duration_ms, Date.parse(finished_at!) - Date.parse(started_at))
    const before = ran.steps[index - 1]?.finished_at ?? ran.started_at!
    assert.ok(started_at >= before, 'in order')
  }
  // What each was handed: what those before it had written.
  assert.deepEqual(
    seen.map(({ context }) => context),
    [{}, { a: { by: 'a' }, latest: 'a' }, { a: { by: 'a' }, b: { by: 'b' }, latest: 'b' }],
  )
  assert.deepEqual(
    seen.map(({ stepIndex, sagaId }) => [stepIndex, sagaId]),
    [0, 1, 2].map(index => [index, ran.id]),
  )
  const lines = bundle.logged()
  for (const change of ['pending', 'running', 'completed'])
    assert.match(lines, new RegExp(`"saga_id":"${ran.id}".*"msg":"saga ${change}"`), change)
  const metrics = await bundle.ctx.metrics.registry.metrics()
  assert.match(metrics, /cloudops_saga_runs_total\{kind="three",outcome="completed"\} 1/)
})

test('a step that fails at any index, by an error or by raising, turns the run back: undone in reverse order, rolled_back, with index and reason', async t => {
  const journal: Journal = []
  const failing = (at: string, how: string) =>
    kindOf(
      `${at} ${how}`,
      names.map(name =>
        step(name, journal, {
          ...(name === at && {
            execute: async () => {
              if (how === 'raises') throw new Error('the provider has no room')
              return { ok: false, reason: 'the provider has no room' }
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
      assert.deepEqual(ran.error, { step_idx: index, step: at, reason: 'the provider has no room' })
      assert.equal(ran.current_step_index, index)
      const before = names.slice(0, index)
      assert.deepEqual(journal, [
        ...before.map(name => `execute ${name}`),
        `execute ${at}`,
        ...before.toReversed().map(name => `compensate ${name}`),
      ])
      assert.deepEqual(statuses(ran), [...before.map(() => 'compensated'), 'failed'])
      assert.equal(ran.steps[index]!.error, 'the provider has no room')
    }
  }
})

test('a compensation that fails is recorded and the walk goes on; steps without one are passed over', async t => {
  const journal: Journal = []
  const fails = { execute: async () => ({ ok: false as const, reason: 'no' }) }
  const kinds = [
    kindOf('stubborn', [
      step('a', journal),
      step('b', journal, { compensate: async () => ({ ok: false, reason: 'it is held by a lock' }) }),
      step('c', journal, { final: true }),
      step('d', journal, {
        compensate: async () => {
          throw new Error('the network is gone')
        },
      }),
      step('e', journal, fails),
    ]),
    kindOf('nothing to undo', [step('a', journal, { final: true }), step('b', journal, fails)]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const ran = await run(bundle, 'stubborn')
  assert.equal(ran.status, 'rolled_back')
  assert.deepEqual(journal.slice(5), ['compensate d', 'compensate b', 'compensate a'])
  assert.deepEqual(statuses(ran), ['compensated', 'completed', 'completed', 'completed', 'failed'])
  assert.deepEqual(
    ran.steps.map(({ error }) => error),
    [
      null,
      'compensation failed: it is held by a lock',
      null,
      'compensation failed: the network is gone',
      'no',
    ],
  )
  assert.match(bundle.logged(), /"step":"b".*"msg":"saga compensation failed"/)
  const bare = await run(bundle, 'nothing to undo')
  assert.deepEqual([bare.status, statuses(bare)], ['rolled_back', ['completed', 'failed']])
})

test('a cancel is looked at between steps: what was done is undone, and the reason says so; after the last step it has lost', async t => {
  const journal: Journal = []
  const [middle, end, undo] = [gate(), gate(), gate()]
  const held = (at: typeof middle) => ({
    execute: async () => {
      await at.pass()
      return { ok: true as const }
    },
  })
  const kinds = [
    kindOf('in the middle', [step('a', journal), step('b', journal, held(middle)), step('c', journal)]),
    kindOf('at the end', [step('a', journal), step('b', journal, held(end))]),
    kindOf('turning back', [
      step('a', journal, { compensate: () => undo.pass().then(() => ({ ok: true })) }),
      step('b', journal, { execute: async () => ({ ok: false, reason: 'no' }) }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const cancel = (id: string) => bundle.call('POST', `${base}/${id}/cancel`)

  const { id } = await start(bundle, 'in the middle')
  await middle.reached
  const answer = await cancel(id)
  assert.equal(answer.status, 202)
  assert.deepEqual([answer.body.data.status, answer.body.data.cancel_requested], ['running', true])
  const meanwhile = await show(bundle, id)
  assert.deepEqual([meanwhile.current_step_index, statuses(meanwhile)], [1, ['completed', 'running']])
  middle.open()
  const ran = await ended(bundle, id)
  assert.equal(ran.status, 'rolled_back')
  assert.deepEqual(ran.error, { step_idx: 2, step: 'c', reason: 'cancelled by ada' })
  assert.deepEqual(journal, ['execute a', 'execute b', 'compensate b', 'compensate a'])
  assert.deepEqual(statuses(ran), ['compensated', 'compensated'])
  const again = await cancel(id)
  assert.deepEqual([again.status, again.body.code], [409, 'saga_ended'])

  const late = await start(bundle, 'at the end')
  await end.reached
  assert.equal((await cancel(late.id)).status, 202)
  end.open()
  const completed = await ended(bundle, late.id)
  assert.deepEqual([completed.status, completed.cancel_requested], ['completed', true])

  const back = await start(bundle, 'turning back')
  await undo.reached
  const turning = await cancel(back.id)
  assert.deepEqual(
    [turning.status, turning.body.data.status, turning.body.data.cancel_requested],
    [202, 'compensating', false],
  )
  undo.open()
  assert.equal((await ended(bundle, back.id)).error?.reason, 'no')
})

test('a step that takes too long is told to end; when it does not, its outcome is unknown and its own compensation comes first', async t => {
  const journal: Journal = []
  const never = new Promise<never>(() => {})
  const heeds = ({ signal }: SagaState) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const timeoutMs = 40
  const kinds = [
    kindOf('heeds', [step('a', journal), step('b', journal, { timeoutMs, execute: heeds })]),
    kindOf('ignores', [step('a', journal), step('b', journal, { timeoutMs, execute: () => never })]),
    kindOf('says so', [
      step('a', journal),
      step('b', journal, {
        execute: async () => ({ ok: false, reason: 'the answer was lost', unknown: true }),
      }),
    ]),
    kindOf('cannot be undone', [
      step('a', journal, { timeoutMs, compensate: () => never }),
      step('b', journal, { execute: async () => ({ ok: false, reason: 'no' }) }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  for (const [kind, reason] of [
    ['heeds', 'it took longer than 0.04 s'],
    ['ignores', 'its outcome is unknown: it took longer than 0.04 s'],
    ['says so', 'the answer was lost'],
  ]) {
    journal.length = 0
    const ran = await run(bundle, kind!)
    assert.deepEqual(ran.error, { step_idx: 1, step: 'b', reason }, kind)
    assert.deepEqual(journal, ['execute a', 'execute b', 'compensate b', 'compensate a'], kind)
    assert.deepEqual([ran.status, ...statuses(ran)], ['rolled_back', 'compensated', 'failed'], kind)
  }
  const ran = await run(bundle, 'cannot be undone')
  assert.equal(ran.steps[0]!.error, 'compensation failed: it took longer than 0.04 s')
})

test('inputs and context are frozen for a step, and what it hands back is kept as it was at that moment', async t => {
  const journal: Journal = []
  const later: { list: number[] } = { list: [1] }
  const refused: string[] = []
  const tries = (what: string, change: () => void) => {
    try {
      change()
    } catch (error) {
      if (error instanceof TypeError) refused.push(what)
    }
  }
  const kinds = [
    kindOf('meddling', [
      step('a', journal, { execute: async () => ({ ok: true, context: later, output: later }) }),
      step('b', journal, {
        execute: async ({ inputs, context }) => {
          later.list.push(2)
          tries('inputs', () => Object.assign(inputs, { key: 'other' }))
          tries('inputs, deeply', () => (inputs.list as unknown[]).push('x'))
          tries('context', () => Object.assign(context, { mine: true }))
          tries('context, deeply', () => (context.list as unknown[]).push('x'))
          return { ok: true, context: { __proto__x: 1, ['__proto__']: { polluted: true } } }
        },
      }),
      step('c', journal, {
        execute: async ({ context }) => ({ ok: true, output: { seen: Object.keys(context).sort() } }),
      }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const ran = await run(bundle, 'meddling', { list: [1, 2] })
  assert.equal(ran.status, 'completed')
  assert.deepEqual(refused, ['inputs', 'inputs, deeply', 'context', 'context, deeply'])
  assert.deepEqual(ran.inputs.list, [1, 2])
  assert.deepEqual(ran.context.list, [1])
  assert.deepEqual(ran.steps[0]!.output, { list: [1] })
  assert.ok(Object.hasOwn(ran.context, '__proto__'), 'a key like any other')
  assert.deepEqual(ran.steps[2]!.output, { seen: ['__proto__', '__proto__x', 'list'] })
})

test('what cannot be kept is a failure with effects, and a reason shows neither secrets nor stacks', async t => {
  const journal: Journal = []
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  const results: Record<string, [unknown, RegExp]> = {
    'no object': [{ ok: true, output: [1] }, /its output is not an object/],
    huge: [{ ok: true, context: { text: 'x'.repeat(300_000) } }, /its context is larger than 262144 bytes/],
    circular: [{ ok: true, output: loop }, /its output cannot be written as JSON/],
    NUL: [{ ok: true, output: { text: 'a\0b' } }, /its output holds characters that cannot be stored/],
    nothing: [undefined, /it returned neither ok nor an error/],
  }
  const kinds = [
    ...Object.entries(results).map(([name, [result]]) =>
      kindOf(name, [step('a', journal, { execute: async () => result as never })]),
    ),
    kindOf('indiscreet', [
      step('a', journal, {
        execute: async () => {
          throw new Error(
            `POST with Bearer dop_v1_0123456789abcdef failed at postgres://me:hunter2@db/x\n    at call (/srv/x.js:1:2)`,
          )
        },
      }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  for (const [name, [, reason]] of Object.entries(results)) {
    journal.length = 0
    const ran = await run(bundle, name)
    assert.equal(ran.status, 'rolled_back', name)
    assert.match(ran.error!.reason, reason, name)
    assert.deepEqual(journal, ['execute a', 'compensate a'], name)
  }
  const ran = await run(bundle, 'indiscreet')
  assert.equal(ran.error!.reason, 'POST with Bearer [redacted] failed at postgres://[redacted]@db/x')
})

test('a run cancelled before it began runs no step', async t => {
  const journal: Journal = []
  const kinds = [kindOf('late', [step('a', journal)])]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { id } = await start(bundle, 'late')
  const answer = await bundle.call('POST', `${base}/${id}/cancel`)
  assert.equal(answer.body.data.status, 'pending')
  await anotherWorker(t, bundle)
  const ran = await ended(bundle, id)
  assert.deepEqual([ran.status, ran.steps, journal], ['rolled_back', [], []])
  assert.deepEqual(ran.error, { step_idx: 0, step: 'a', reason: 'cancelled by ada' })
})

test('a process drives no more than 32 runs at once, and the others wait their turn', async t => {
  let running = 0
  let most = 0
  const full = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const kinds = [
    kindOf('many', [
      step('a', [], {
        execute: async () => {
          most = Math.max(most, ++running)
          if (running > 16) full.resolve()
          await go.promise
          running--
          return { ok: true }
        },
      }),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const runs = await Promise.all(Array.from({ length: 40 }, () => start(bundle, 'many')))
  await full.promise
  go.resolve()
  for (const { id } of runs) assert.equal((await ended(bundle, id)).status, 'completed')
  assert.ok(most > 16 && most <= 32, `${most} at once`)
})

test('steps that end together are written together, and when the database refuses that, each on its own', async t => {
  const all = Promise.withResolvers<void>()
  let arrived = 0
  const together = async () => {
    if (++arrived === 6) all.resolve()
    await all.promise
    return { ok: true as const, context: { met: arrived } }
  }
  const kinds = [kindOf('meet', [step('a', [], { execute: together }), step('b', [])])]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const sizes: number[] = []
  aroundStatements(t, bundle.ctx.db, async ({ name, values }, send) => {
    if (name !== 'saga_complete_free_steps') return send()
    const { length } = values[0] as string[]
    sizes.push(length)
    if (sizes.length === 1) throw Object.assign(new Error('out of range'), { code: '22003' })
    return send()
  })
  const runs = await Promise.all(Array.from({ length: 6 }, () => start(bundle, 'meet')))
  for (const { id } of runs) {
    const { status, context, steps } = await ended(bundle, id)
    assert.deepEqual([status, context], ['completed', { met: 6, b: true }])
    assert.deepEqual(
      steps.map(({ status, attempts }) => [status, attempts]),
      [
        ['completed', 1],
        ['completed', 1],
      ],
    )
  }
  assert.equal(sizes[0], 6)
})

test('a process that is told to stop finishes the step in hand, and another goes on with the next without undoing anything', async t => {
  const journal: Journal = []
  const held = gate()
  const kinds = [
    kindOf('long', [
      step('a', journal, {
        execute: async () => {
          await held.pass()
          return { ok: true, context: { a: 1 } }
        },
      }),
      step('b', journal),
    ]),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const { id } = await start(bundle, 'long')
  await held.reached
  const stopped = bundle.ctx.jobs.stop(10_000)
  await eventually('it is told to stop', async () => bundle.ctx.jobs.leaving.aborted)
  held.open()
  await stopped
  const put = await show(bundle, id)
  assert.deepEqual([put.status, put.current_step_index, statuses(put)], ['running', 1, ['completed']])
  await anotherWorker(t, bundle)
  const ran = await ended(bundle, id)
  assert.equal(ran.status, 'completed')
  assert.deepEqual(journal, ['execute a', 'execute b'])
  assert.deepEqual(ran.context, { a: 1, b: true })
})

test('a run that the queue brings to a process which is stopping is left for another', async t => {
  const journal: Journal = []
  const kinds = [kindOf('brought', [step('a', journal)])]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  const { id } = await start(bundle, 'brought')
  // As the last batch of a queue that is being stopped.
  const leaving = { ...bundle.ctx, jobs: { ...bundle.ctx.jobs, leaving: AbortSignal.abort() } }
  await createDriver(leaving, registryOf(kinds)).take(id)
  const left = await show(bundle, id)
  assert.deepEqual([left.status, left.steps, journal], ['pending', [], []])
  await anotherWorker(t, bundle)
  assert.equal((await ended(bundle, id)).status, 'completed')
  assert.deepEqual(journal, ['execute a'])
})
