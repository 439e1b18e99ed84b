// Entries that are written and sealed at the same time. On PostgreSQL alone: PGlite runs one transaction at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { chainEntries } from '../../src/features/audit-log/chain-entries.ts'
import { verifyChain } from '../../src/features/audit-log/verify-chain.ts'
import { newId } from '../../src/kernel/ids.ts'
import { needsPostgres } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 30

test('several sealers beside many writers seal every entry once, in one chain', needsPostgres, async t => {
  const bundle = await setup(t, { env: { RATE_LIMIT_PER_MINUTE: '0' } })
  const { ctx } = bundle
  let sealed = 0
  for (let round = 0; round < ROUNDS; round++) {
    const writers = Array.from({ length: 6 }, () => deployment(bundle))
    const sealers = Array.from({ length: 3 }, () => chainEntries(ctx, { atATime: 2 }))
    await Promise.all(writers)
    for (const count of await Promise.all(sealers)) sealed += count
  }
  sealed += await chainEntries(ctx)
  assert.equal(sealed, 6 * ROUNDS)
  const { intact, entries } = await verifyChain(ctx)
  assert.deepEqual([intact, entries], [true, 6 * ROUNDS])
})

test(
  'an entry that is committed after newer ones were sealed is sealed behind them',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx } = bundle
    const first = await deployment(bundle)
    await ctx.db.transaction().execute(async tx => {
      await sql`insert into audit_log (id, at, actor, request_id, operation, subject_type, subject_id, action)
        values (${newId()}, now(), 'late', 'r', 'o', 'cloud_deployments', ${first.id}, 'requested')`.execute(
        tx,
      )
      await deployment(bundle)
      assert.equal(await chainEntries(ctx), 2)
    })
    assert.equal(await chainEntries(ctx), 1)
    const { rows } = await sql<{ actor: string }>`
    select actor from audit_seals join audit_log on id = entry_id order by seq`.execute(ctx.db)
    assert.deepEqual(
      rows.map(({ actor }) => actor),
      ['ada', 'ada', 'late'],
    )
    assert.equal((await verifyChain(ctx)).intact, true)
  },
)
