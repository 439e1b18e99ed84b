// Races over runs that only a database with many connections has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { base, ended, type Journal, kindOf, type ShownRun, start, step } from '../support/sagas.ts'
import { anotherWorker, setup } from '../support/setup.ts'

const ROUNDS = 200

test('a workflow started three times at once for one thing is one run', needsPostgres, async t => {
  const kinds = [kindOf('one', [step('a', [])])]
  const bundle = await setup(t, { sagaKinds: () => kinds })
  for (let round = 0; round < ROUNDS; round++) {
    const body = { kind: 'one', inputs: { key: `race-${round}` } }
    const answers = await Promise.all([1, 2, 3].map(() => bundle.call('POST', base, { body })))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [202, 202, 202],
    )
    assert.equal(new Set(answers.map(answer => answer.body.data.id)).size, 1, `round ${round}`)
  }
  const { body } = await bundle.call('GET', `${base}?limit=500`)
  assert.equal(body.data.length, ROUNDS)
})

test('a cancel beside a running workflow ends it one way or the other, whole', needsPostgres, async t => {
  const journal: Journal = []
  const kinds = [
    kindOf(
      'two',
      ['a', 'b'].map(name => step(name, journal)),
    ),
  ]
  const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
  const outcomes = new Set<string>()
  for (let round = 0; round < ROUNDS; round++) {
    journal.length = 0
    const { id } = await start(bundle, 'two')
    const answer = await bundle.call('POST', `${base}/${id}/cancel`)
    assert.ok([202, 409].includes(answer.status), answer.text)
    const ran = await ended(bundle, id)
    outcomes.add(`${ran.status} ${ran.steps.length}`)
    const begun = ran.steps.map(({ name }) => `execute ${name}`)
    if (ran.status === 'completed') assert.deepEqual(journal, begun)
    else {
      assert.equal(ran.status, 'rolled_back')
      const undone = (ran as ShownRun).steps.toReversed().map(({ name }) => `compensate ${name}`)
      assert.deepEqual(journal, [...begun, ...undone], `round ${round}`)
      assert.ok(ran.steps.every(({ status }) => status === 'compensated'))
    }
  }
  t.diagnostic([...outcomes].join(', '))
})

test(
  'a run whose row somebody holds waits alone: the steps of others beside it go on',
  needsPostgres,
  async t => {
    const held = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    let first = true
    const wait = async () => {
      if (first) {
        first = false
        begun.resolve()
        await held.promise
      }
      return { ok: true as const }
    }
    const kinds = [kindOf('two', [step('a', [], { execute: wait }), step('b', [])])]
    const bundle = await setup(t, { worker: true, sagaKinds: () => kinds })
    const slow = await start(bundle, 'two')
    await begun.promise
    await bundle.ctx.db.transaction().execute(async tx => {
      await tx.selectFrom('saga_runs').select('id').where('id', '=', slow.id).forUpdate().execute()
      held.resolve()
      const others = await Promise.all(Array.from({ length: 8 }, () => start(bundle, 'two')))
      for (const { id } of others) assert.equal((await ended(bundle, id)).status, 'completed')
      assert.equal((await bundle.call('GET', `${base}/${slow.id}`)).body.data.current_step_index, 0)
    })
    assert.equal((await ended(bundle, slow.id)).status, 'completed')
  },
)

test(
  'a job that its worker was killed over is taken again and done, with nothing for an operator to tend to',
  needsPostgres,
  async t => {
    const journal: Journal = []
    const kinds = [kindOf('one', [step('a', journal)])]
    const bundle = await setup(t, { sagaKinds: () => kinds })
    const { db } = bundle.ctx
    const { id } = await start(bundle, 'one')
    // Its run had ended, or was put down for another job, when the worker was killed: the rescue has no part in it.
    await sql`update saga_runs set status = 'completed', finished_at = now()`.execute(db)
    await sql`update pgboss.job set state = 'active', started_on = now() - interval '1 minute',
    heartbeat_on = now() - interval '1 minute' where name = 'provisioning'`.execute(db)
    await anotherWorker(t, bundle)
    const jobs = () =>
      sql<{ state: string }>`
    select state::text from pgboss.job where name in ('provisioning', 'dead_letters')`.execute(db)
    await eventually('it is done', async () => (await jobs()).rows[0]?.state === 'completed', 40_000)
    assert.equal((await jobs()).rows.length, 1, 'no dead letter')
    assert.deepEqual([(await ended(bundle, id)).steps, journal], [[], []])
  },
)
