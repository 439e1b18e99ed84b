// Nodes that meter the same hours at once, on a database with many connections.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { meter, tied, usageRows } from '../support/metering.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 10
const NODES = 4

test(
  'hours that several nodes meter at once are metered once, none left out and none twice',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { clock, ctx } = bundle
    clock.set('2026-11-01T00:00:00Z')
    const { id } = await deployment(bundle)
    await tied(bundle, '2026-11-01T00:00:01Z', 'droplet', ['1', '2', '3'], id)
    for (let round = 1; round <= ROUNDS; round++) {
      clock.set('2026-11-01T00:05:00Z')
      clock.advance(round * 30 * 3_600_000)
      const counts = await Promise.all(Array.from({ length: NODES }, () => meter(bundle)))
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        30,
        `round ${round}: ${counts}`,
      )
    }
    const rows = await usageRows(bundle)
    assert.equal(rows.length, ROUNDS * 30)
    const seconds = rows.map(row => row[3])
    assert.deepEqual(new Set(seconds), new Set([3 * 3599, 3 * 3600]))
    const { hours } = await ctx.db
      .selectFrom('metered_hours')
      .select(eb => eb.fn.countAll<number>().as('hours'))
      .executeTakeFirstOrThrow()
    assert.equal(hours, ROUNDS * 30)
  },
)

test(
  'a resource that changes hands while an hour is metered counts for the whole of that hour, neither more nor less',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { clock } = bundle
    clock.set('2026-11-01T00:00:00Z')
    const [from, to] = [await deployment(bundle), await deployment(bundle)]
    await tied(bundle, '2026-11-01T00:00:01Z', 'droplet', '1', from.id)
    clock.set('2026-11-01T01:05:00Z')
    await meter(bundle)
    for (let hour = 1; hour <= ROUNDS; hour++) {
      const moment = new Date(Date.UTC(2026, 10, 1, hour + 1, 5))
      clock.set(moment.toISOString())
      const next = hour % 2 === 1 ? to.id : from.id
      const [metered] = await Promise.all([
        meter(bundle),
        tied(bundle, new Date(moment.getTime() + 1000).toISOString(), 'droplet', '1', next),
      ])
      assert.equal(metered, 1)
    }
    // Each change came five minutes after the hour it raced with, so that hour is its old owner's throughout.
    const rows = (await usageRows(bundle)).slice(1)
    const byHour = Map.groupBy(rows, row => row[1])
    for (const [hour, parts] of byHour)
      assert.equal(
        parts.reduce((sum, part) => sum + part[3], 0),
        3600,
        hour,
      )
    assert.equal(byHour.size, ROUNDS)
  },
)
