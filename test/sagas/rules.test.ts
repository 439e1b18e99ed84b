// The pure rules of sagas.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rescuePlan, type Stranded } from '../../src/features/sagas/rescue-plan.ts'
import { hasEnded, RUN_MOVES, RUN_STATUSES, STEP_STATUSES } from '../../src/features/sagas/saga.ts'
import { registryOf } from '../../src/features/sagas/step.ts'
import { frozen, inWords, merged, reasonOf, textOf } from '../../src/features/sagas/stored-text.ts'
import { kindOf, step } from '../support/sagas.ts'

test('of all pairs of run states exactly those of the specification are moves, and three states are ends', () => {
  const moves = RUN_STATUSES.flatMap(from => RUN_MOVES[from].map(to => `${from} → ${to}`))
  assert.deepEqual(moves.sort(), [
    'compensating → failed',
    'compensating → rolled_back',
    'pending → running',
    'running → compensating',
    'running → completed',
    'running → failed',
  ])
  assert.deepEqual(RUN_STATUSES.filter(hasEnded), ['completed', 'failed', 'rolled_back'])
  assert.deepEqual(STEP_STATUSES, ['running', 'completed', 'failed', 'compensated'])
})

test('a reason is one sentence for an operator: no stack, no secret, no control character, never too long, never empty', () => {
  const secret = 'S3cr3tValue0123456789'
  for (const words of [
    `Authorization: Bearer ${secret}`,
    `token=${secret}`,
    `"password": "${secret}"`,
    `https://user:${secret}@example.com/x`,
    `eyJ${secret}.${secret}.${secret}`,
    `dop_v1_${secret}`,
  ])
    assert.ok(!inWords(words).includes(secret), inWords(words))
  assert.equal(reasonOf(new Error('it broke\n    at f (x.js:1:1)\n    at g (y.js:2:2)')), 'it broke')
  assert.equal(reasonOf('thrown as text'), 'thrown as text')
  assert.equal(reasonOf(undefined), 'undefined')
  assert.equal(inWords(''), 'no reason was given')
  const database = Object.assign(new Error('duplicate key: (email)=(ada@example.com)'), { code: '23505' })
  assert.equal(reasonOf(database), 'the database refused: This clashes with something that exists already.')
  fc.assert(
    fc.property(fc.uint16Array({ maxLength: 700 }), units => {
      const said = inWords(String.fromCharCode(...units))
      assert.ok(said.length > 0 && said.length <= 500)
      assert.ok(said.isWellFormed() && !/\p{Cc}/u.test(said))
    }),
  )
})

test('what a step hands back is kept exactly, or refused', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.parse(JSON.stringify(value)))
  const storable = (value: object) => !/\\u0000|\\ud[89a-f]/.test(JSON.stringify(value))
  fc.assert(
    fc.property(json, json.filter(storable), (context, added) => {
      assert.deepEqual(merged(frozen(context), textOf(added, 'context')), { ...context, ...added })
    }),
  )
  assert.equal(textOf({ text: '\\u0000' }, 'x'), '{"text":"\\\\u0000"}', 'a backslash is no NUL')
  for (const bad of [null, [], 'text', { text: 'a\0' }, { text: '\ud800' }, new Date(), { n: 1n }])
    assert.throws(() => textOf(bad, 'output'), /its output/)
})

test('a list of workflows that cannot be right is refused, and steps are found by the names a run was started with', () => {
  const [a, b] = [step('a', []), step('b', [])]
  assert.throws(() => registryOf([kindOf('x', [])]), /needs steps/)
  assert.throws(() => registryOf([kindOf('x', [a, a])]), /a name of its own/)
  assert.throws(() => registryOf([kindOf('x', [a]), kindOf('x', [b])]), /two saga kinds/)
  const registry = registryOf([kindOf('x', [a, b])])
  assert.deepEqual([registry.names, registry.find('x')?.kind, registry.find('y')], [['x'], 'x', undefined])
  assert.deepEqual(registry.stepsOf('x', ['b']), [b], 'a run keeps to its own list')
  assert.deepEqual(registry.stepsOf('x', ['a', 'c']), { unknown: 1 })
  assert.deepEqual(registry.stepsOf('y', ['a']), { unknown: 0 })
})

test('a run that nobody drives is sent again, turned back, gone on with or given up', () => {
  const run: Stranded = {
    id: 'x',
    kind: 'k',
    status: 'running',
    driven: true,
    current_step_index: 2,
    compensating_index: null,
    job_id: 'j',
    cancel_requested_by: null,
    step: 'c',
    step_status: 'running',
    interruptions: 0,
  }
  for (const status of ['pending', 'running', 'compensating'] as const)
    assert.deepEqual(rescuePlan({ ...run, status, driven: false }), { do: 'send_again' })
  const back = rescuePlan(run)
  assert.ok(back.do === 'turn_back' && back.failStep && back.from === 2)
  assert.match(back.error.reason, /unknown/)
  // Cancelled before the step began: it has no effects.
  const cancelled = rescuePlan({ ...run, step_status: null, cancel_requested_by: 'ada' })
  assert.deepEqual(cancelled, {
    do: 'turn_back',
    failStep: false,
    from: 1,
    error: { step_idx: 2, step: 'c', reason: 'cancelled by ada' },
  })
  const early = rescuePlan({ ...run, current_step_index: 0, step_status: null })
  assert.ok(early.do === 'turn_back' && early.from === null && early.error.reason === 'cancelled by someone')
  const second = rescuePlan({ ...run, current_step_index: 1, step_status: null })
  assert.ok(second.do === 'turn_back' && second.from === 0)
  const compensating: Stranded = { ...run, status: 'compensating', compensating_index: 1, step: 'b' }
  assert.deepEqual(rescuePlan(compensating), { do: 'compensate_on' })
  assert.deepEqual(rescuePlan({ ...compensating, compensating_index: null }), { do: 'compensate_on' })
  assert.deepEqual(rescuePlan({ ...compensating, interruptions: null }), { do: 'compensate_on' })
  const reason = 'its compensation was interrupted 2 times: look at what it left behind'
  const error = { step_idx: 1, step: 'b', reason }
  assert.deepEqual(rescuePlan({ ...compensating, interruptions: 1 }), { do: 'give_up', error })
})
