import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { findActiveVersion, findVersion } from '../../src/features/catalog/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Answer, type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/catalog'
const versions = `${base}/plans/growth/versions`
const ROUNDS = 200

const terms = (price: number) => ({
  base_price_cents: price,
  currency: 'USD',
  items: [{ resource_kind: 'droplet', included_qty: price }],
})

async function draft({ call }: Bundle, price: number): Promise<number> {
  const { status, body, text } = await call('POST', versions, { body: terms(price) })
  assert.equal(status, 201, text)
  return body.data.version
}

async function withPlan(bundle: Bundle): Promise<Bundle> {
  const { status } = await bundle.call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } })
  assert.equal(status, 201)
  return bundle
}

const statuses = (answers: Answer[]) => answers.map(answer => answer.status).toSorted()

async function activeVersions({ ctx }: Bundle): Promise<number[]> {
  const rows = await ctx.db
    .selectFrom('plan_versions')
    .select('version')
    .where('status', '=', 'active')
    .execute()
  return rows.map(row => row.version)
}

// PGlite has one connection: nothing there happens at once.
const unhurried = { env: { RATE_LIMIT_PER_MINUTE: '0' } }

test(
  'two drafts of one plan published at once: both in turn, exactly one active afterwards',
  needsPostgres,
  async t => {
    const bundle = await withPlan(await setup(t, unhurried))
    for (let round = 0; round < ROUNDS; round++) {
      const drafts = [await draft(bundle, round), await draft(bundle, round + 1)]
      const answers = await Promise.all(
        drafts.map(version => bundle.call('POST', `${versions}/${version}/publish`)),
      )
      assert.deepEqual(statuses(answers), [200, 200], answers.map(answer => answer.text).join())
      const active = await activeVersions(bundle)
      assert.equal(active.length, 1)
      assert.ok(drafts.includes(active[0]!))
    }
    const rows = await bundle.ctx.db.selectFrom('plan_versions').select('status').execute()
    assert.equal(rows.filter(row => row.status === 'retired').length, 2 * ROUNDS - 1)
  },
)

test('one draft published twice at once: one 200, one 409 already_active', needsPostgres, async t => {
  const bundle = await withPlan(await setup(t, unhurried))
  for (let round = 0; round < ROUNDS; round++) {
    const version = await draft(bundle, round)
    const publish = () => bundle.call('POST', `${versions}/${version}/publish`)
    const answers = await Promise.all([publish(), publish()])
    assert.deepEqual(statuses(answers), [200, 409])
    assert.equal(answers.find(answer => answer.status === 409)!.body.code, 'already_active')
    assert.deepEqual(await activeVersions(bundle), [version])
  }
})

test(
  'a draft replaced while it is published: what was published is what either answer says, and stays',
  needsPostgres,
  async t => {
    const bundle = await withPlan(await setup(t, unhurried))
    for (let round = 0; round < ROUNDS; round++) {
      const version = await draft(bundle, 1)
      const path = `${versions}/${version}`
      const [published, replaced] = await Promise.all([
        bundle.call('POST', `${path}/publish`),
        bundle.call('PUT', path, { body: terms(2) }),
      ])
      assert.equal(published.status, 200, published.text)
      if (replaced.status !== 200) assert.equal(replaced.body.code, 'not_a_draft', replaced.text)
      const price = replaced.status === 200 ? 2 : 1
      const { body } = await bundle.call('GET', path)
      assert.deepEqual(body.data, published.body.data)
      assert.equal(body.data.base_price_cents, price)
      assert.equal(body.data.items[0].included_qty, price)
    }
  },
)

test(
  'an item written straight into the database during a publish waits for it and is refused',
  needsPostgres,
  async t => {
    const bundle = await withPlan(await setup(t, unhurried))
    const version = await draft(bundle, 1)
    const { db } = bundle.ctx
    let written: Promise<string> | undefined
    await transaction(db, async tx => {
      const { id } = await tx
        .updateTable('plan_versions')
        .set({ status: 'active', published_at: bundle.clock.now().toISOString() })
        .where('version', '=', version)
        .returning('id')
        .executeTakeFirstOrThrow()
      const none = { overage_unit: null, overage_price_cents: null, hard_cap_qty: null }
      written = db
        .insertInto('plan_items')
        .values({ plan_version_id: id, resource_kind: 'volume', included_qty: 1, ...none })
        .execute()
        .then(
          () => 'written',
          error => error.code,
        )
      const settled = written.then(() => true)
      await eventually('the writer waits', async () => {
        const { rows } = await sql`
        select 1 from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database()`.execute(db)
        return rows.length > 0 || Promise.race([settled, false])
      })
    })
    assert.equal(await written, '55000')
  },
)

test(
  'a signup during a publish gets the version before or the one after, active until the signup is done',
  needsPostgres,
  async t => {
    const bundle = await withPlan(await setup(t, unhurried))
    await bundle.call('POST', `${versions}/${await draft(bundle, 0)}/publish`)
    for (let round = 1; round <= ROUNDS; round++) {
      const version = await draft(bundle, round)
      const [published, seen] = await Promise.all([
        bundle.call('POST', `${versions}/${version}/publish`),
        transaction(bundle.ctx.db, async tx => {
          const found = await findActiveVersion(tx, 'growth')
          return findVersion(tx, found!.version!.id)
        }),
      ])
      assert.equal(published.status, 200)
      assert.equal(seen!.status, 'active')
      assert.ok(seen!.version === version || seen!.version === version - 1)
    }
  },
)

test('two plans of one code created at once: one 201, one 409 plan_code_taken', needsPostgres, async t => {
  const { call } = await setup(t, unhurried)
  for (let round = 0; round < ROUNDS; round++) {
    const create = () => call('POST', `${base}/plans`, { body: { code: `plan-${round}`, name: 'Plan' } })
    const answers = await Promise.all([create(), create()])
    assert.deepEqual(statuses(answers), [201, 409])
    assert.equal(answers.find(answer => answer.status === 409)!.body.code, 'plan_code_taken')
  }
})

test('two addons of one code created at once: one 201, one 409 addon_code_taken', needsPostgres, async t => {
  const { call } = await setup(t, unhurried)
  for (let round = 0; round < ROUNDS; round++) {
    const body = { code: `addon-${round}`, resource_kind: 'droplet', qty: 1, price_cents: 1 }
    const create = () => call('POST', `${base}/addons`, { body })
    const answers = await Promise.all([create(), create()])
    assert.deepEqual(statuses(answers), [201, 409])
    assert.equal(answers.find(answer => answer.status === 409)!.body.code, 'addon_code_taken')
  }
})

test(
  'two overlapping prices added at once: one wins, the other is 409 price_overlap',
  needsPostgres,
  async t => {
    const { call } = await setup(t, unhurried)
    for (let round = 0; round < ROUNDS; round++) {
      const year = 2026 + round
      const add = (effective_from: string) =>
        call('POST', `${base}/resource-prices`, {
          body: {
            resource_kind: 'droplet',
            unit: 'hour',
            price_cents: 1,
            currency: 'USD',
            effective_from,
            effective_to: `${year + 1}-01-01`,
          },
        })
      const answers = await Promise.all([add(`${year}-01-01`), add(`${year}-07-01`)])
      assert.deepEqual(statuses(answers), [201, 409], answers.map(answer => answer.text).join())
      assert.equal(answers.find(answer => answer.status === 409)!.body.code, 'price_overlap')
    }
  },
)
