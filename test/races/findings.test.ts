// Findings: several runs at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { needsPostgres } from '../support/engine.ts'
import { find } from '../support/findings.ts'
import { setup } from '../support/setup.ts'
import { see } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

test('of runs at the same time each finding is opened, told and closed by one', needsPostgres, async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { ctx } = bundle
  await webhook(bundle, { url: 'http://127.0.0.1:9/hook', events: ['finding.*'] })
  const volumes = Array.from({ length: 300 }, (_, n) => ({
    provider_id: `v-${n}`,
    attrs: { size_gigabytes: 1 },
  }))
  await see(bundle, 'volume', volumes)
  const together = async (strikes: number) => {
    await sql`update cloud_resources set stale_strike_count = ${strikes},
      missing_since = case when ${strikes}::int > 0 then last_seen_at end`.execute(ctx.db)
    const runs = await Promise.all(Array.from({ length: 4 }, () => find(bundle, 'resource_missing')))
    return runs.reduce((sums, { opened, closed }) => [sums[0]! + opened, sums[1]! + closed], [0, 0])
  }
  assert.deepEqual(await together(1), [300, 0])
  assert.deepEqual(await together(0), [0, 300])
  assert.deepEqual(await together(1), [300, 0])
  const { rows } = await sql<{ type: string; events: number; about: number }>`
    select type, count(*)::int as events, count(distinct data -> 'finding' ->> 'id')::int as about
    from webhook_events group by type order by type`.execute(ctx.db)
  assert.deepEqual(rows, [
    { type: 'finding.closed', events: 300, about: 300 },
    { type: 'finding.opened', events: 600, about: 600 },
  ])
})
