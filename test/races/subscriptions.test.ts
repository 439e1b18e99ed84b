// Changes of one subscription at once, on a database with many connections.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 40

test(
  'changes of plan and a cancellation at once leave terms without gap or overlap, open only while the subscription lives',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { call, ctx, clock } = bundle
    const plans = [await plan(bundle), await plan(bundle), await plan(bundle)]
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await deployment(bundle)
      const path = `/api/v1/deployments/${id}`
      await call('POST', `${path}/subscribe`, { body: { plan_code: plans[0] } })
      clock.advance(1)
      const cancels = round % 2 === 1
      const answers = await Promise.all([
        ...plans.map(plan_code => {
          clock.advance(1)
          return call('POST', `${path}/change-plan-version`, { body: { plan_code } })
        }),
        ...(cancels ? [call('POST', `${path}/transition`, { body: { state: 'cancelled' } })] : []),
      ])
      for (const { status, text } of answers)
        assert.ok(status === 200 || (cancels && status === 422), `round ${round}: ${text}`)
      const subscription = await ctx.db
        .selectFrom('subscriptions')
        .selectAll()
        .where('deployment_id', '=', id)
        .executeTakeFirstOrThrow()
      // Two changes in one moment leave terms that never held.
      const terms = await ctx.db
        .selectFrom('subscription_terms')
        .selectAll()
        .where('subscription_id', '=', subscription.id)
        .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', eb.ref('valid_from'))]))
        .orderBy('valid_from')
        .execute()
      assert.equal(terms[0]!.valid_from, subscription.created_at)
      for (const [index, next] of terms.slice(1).entries())
        assert.equal(terms[index]!.valid_to, next.valid_from, `round ${round}: ${JSON.stringify(terms)}`)
      const last = terms.at(-1)!
      assert.equal(last.valid_to === null, !cancels)
      assert.equal(subscription.status, cancels ? 'cancelled' : 'active')
      if (!cancels) assert.equal(last.plan_version_id, subscription.plan_version_id)
    }
  },
)
