// Races that only a database with many connections has: on PostgreSQL, round after round, with real requests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { deployment, plan, publish } from '../support/factories.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 200
const base = '/api/v1/deployments'

test(
  'of two moves of one deployment one wins, the other is told, and there is one event',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      const answers = await Promise.all(
        [1, 2].map(() => bundle.call('POST', `${base}/${id}/transition`, { body: { state: 'paused' } })),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 1, `round ${round}`)
      const loser = answers.find(({ status }) => status !== 200)
      assert.ok(['state_changed', 'invalid_transition'].includes(loser?.body.code), loser?.text)
      const { body } = await bundle.call('GET', `${base}/${id}`)
      assert.deepEqual([body.data.state, body.data.events.length], ['paused', 1])
    }
  },
)

test(
  'an operator’s suspension is lifted by no member, whatever the member does at the same time',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { call, tokens } = bundle
    const member = await tokens.tenant('acme')
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      const move = (state: string, token?: string) =>
        call('POST', `${base}/${id}/transition`, { token, body: { state } })
      if (round % 2 === 0) await move('paused', member)
      const [suspended, other] = await Promise.all([
        move('suspended'),
        move(round % 2 === 0 ? 'active' : 'paused', member),
      ])
      const { state, events } = (await call('GET', `${base}/${id}`)).body.data
      if (suspended.status === 200) assert.equal(state, 'suspended', `round ${round}`)
      else assert.equal(suspended.body.code, 'state_changed', suspended.text)
      // Where the member came last, it found the suspension and was refused.
      if (other.status !== 200)
        assert.ok(
          ['state_changed', 'operator_only', 'invalid_transition'].includes(other.body.code),
          other.text,
        )
      for (const { from_state, actor } of events) assert.ok(from_state !== 'suspended', actor)
    }
  },
)

test(
  'of a suspension of billing actions and a move that is one, the one or the other comes first',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { call } = bundle
    const seen = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      const state = round % 2 === 0 ? 'suspended' : 'past_due'
      const flag = () => call('PATCH', `${base}/${id}`, { body: { billing_action_suspended: true } })
      const move = () => call('POST', `${base}/${id}/transition`, { body: { state } })
      const early = round % 3 === 0 ? flag() : undefined
      const moving = move()
      const [flagged, transition] = await Promise.all([early ?? flag(), moving])
      assert.equal(flagged.status, 200, flagged.text)
      const after = (await call('GET', `${base}/${id}`)).body.data
      seen.add(transition.body.code ?? 'moved')
      if (transition.status === 200) {
        assert.equal(transition.body.data.billing_action_suspended, false, 'it moved before the flag was set')
        assert.deepEqual([after.state, flagged.body.data.state], [state, state])
      } else {
        assert.deepEqual([transition.status, transition.body.code], [409, 'billing_action_suspended'])
        assert.deepEqual([after.state, after.events], ['active', []])
      }
    }
    assert.deepEqual([...seen].sort(), ['billing_action_suspended', 'moved'])
  },
)

test('of two creates of one slug one wins, and the other is 409', needsPostgres, async t => {
  const bundle = await setup(t)
  for (let round = 0; round < ROUNDS; round++) {
    const body = { tenant_id: 'acme', slug: `race-${round}` }
    const answers = await Promise.all([1, 2].map(() => bundle.call('POST', base, { body })))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409], `round ${round}`)
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'slug_taken')
  }
})

test('of two subscribes one wins, and the other is 409', needsPostgres, async t => {
  const bundle = await setup(t)
  const plan_code = await plan(bundle)
  for (let round = 0; round < ROUNDS; round++) {
    const { id } = await deployment(bundle)
    const answers = await Promise.all(
      [1, 2].map(() => bundle.call('POST', `${base}/${id}/subscribe`, { body: { plan_code } })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409], `round ${round}`)
    assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'already_subscribed')
  }
})

test(
  'a publish beside a subscribe: the subscription is on a version that was active, and one is active afterwards',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const code = await plan(bundle)
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      const [, subscribed] = await Promise.all([
        publish(bundle, code, { base_price_cents: round }),
        bundle.call('POST', `${base}/${id}/subscribe`, { body: { plan_code: code } }),
      ])
      assert.equal(subscribed.status, 201, subscribed.text)
      const { body } = await bundle.call('GET', `/api/v1/catalog/plans/${code}/versions?limit=500`)
      const active = body.data.filter((version: { status: string }) => version.status === 'active')
      assert.equal(active.length, 1, `round ${round}`)
      const bound = body.data.find(
        (version: { id: string }) => version.id === subscribed.body.data.plan_version_id,
      )
      assert.ok(
        bound.version >= active[0].version - 1,
        'bound to the version that was active just before or is now',
      )
    }
  },
)

test(
  'a cancel beside a subscribe never leaves a living subscription on a cancelled deployment',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const plan_code = await plan(bundle)
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      await Promise.all([
        bundle.call('POST', `${base}/${id}/subscribe`, { body: { plan_code } }),
        bundle.call('POST', `${base}/${id}/transition`, { body: { state: 'cancelled' } }),
      ])
      const { body } = await bundle.call('GET', `${base}/${id}`)
      assert.equal(body.data.state, 'cancelled')
      assert.ok(
        body.data.subscription === null || body.data.subscription.status === 'cancelled',
        `round ${round}`,
      )
    }
  },
)
