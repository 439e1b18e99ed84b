// Usage events from many senders at once, on a database with many connections.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { recordEvents } from '../../src/features/usage-events/record-events.ts'
import { needsPostgres } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { setup } from '../support/setup.ts'
import { event, meterOf } from '../support/usage-events.ts'

const WRITERS = 8
const ROUNDS = 10
const EVENTS = 500

test(
  'events that eight writers send over and over, in any order, are counted once, and none waits in a circle',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { clock, ctx } = bundle
    clock.set('2026-12-02T12:00:00Z')
    await meterOf(bundle, { code: 'llm_tokens' })
    await meterOf(bundle, { code: 'users', aggregation: 'unique' })
    const ids = [(await deployment(bundle)).id, (await deployment(bundle, 'globex')).id]
    // A month that is over, both meters and two tenants in every batch: every part of the statement has rows in common.
    clock.set('2027-01-02T12:00:00Z')
    const all = Array.from({ length: ROUNDS * EVENTS }, (_, index) =>
      event(ids[index % 2]!, {
        id: `e${index}`,
        time: `2026-12-0${1 + (index % 2)}T0${index % 7}:00:00Z`,
        ...(index % 5 === 0
          ? { type: 'users', data: { value: `u${index % 50}` } }
          : { data: { value: index } }),
      }),
    )
    for (let round = 0; round < ROUNDS; round++) {
      const events = all.slice(round * EVENTS, (round + 1) * EVENTS)
      // Each writer begins elsewhere, every second one goes backwards.
      const answers = await Promise.all(
        Array.from({ length: WRITERS }, (_, nth) => {
          const turned = [...events.slice(nth * 37), ...events.slice(0, nth * 37)]
          return recordEvents(ctx, { allTenants: true }, nth % 2 ? turned.toReversed() : turned)
        }),
      )
      const made = answers.map(answer => answer.new)
      assert.equal(
        made.reduce((sum, count) => sum + count, 0),
        EVENTS,
        `round ${round}: ${made}`,
      )
      for (const answer of answers)
        assert.deepEqual([answer.new + answer.known, answer.refused], [EVENTS, []])
    }
    const { rows } = await sql<{ id: string; total: number; again: number }>`
      select h.deployment_id as id, sum(h.total)::int as total,
        (select sum(value)::int from usage_events e where e.deployment_id = h.deployment_id) as again
      from usage_meter_hours h group by 1`.execute(ctx.db)
    for (const { id, total, again } of rows) {
      const sent = all.filter(({ subject, type }) => subject === id && type === 'llm_tokens')
      const expected = sent.reduce((sum, { data }) => sum + Number(data.value), 0)
      assert.deepEqual([total, again], [expected, expected])
    }
    assert.equal(rows.length, 2)
    const { rows: members } = await sql<{ count: number }>`
      select count(*)::int as count from usage_meter_members`.execute(ctx.db)
    assert.equal(members[0]!.count, 10)
    const late = await sql`select * from late_usage where month = '2026-12-01'`.execute(ctx.db)
    assert.equal(late.rows.length, 2)
  },
)
