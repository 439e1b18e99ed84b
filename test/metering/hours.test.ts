import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meterHours } from '../../src/features/metering/jobs.ts'
import { runTask } from '../support/billing.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { gone, meter, tied, usageRows } from '../support/metering.ts'
import { setup } from '../support/setup.ts'
import { jobPart, see } from '../support/sweep.ts'

test('each hour is metered by what lived in it and whose it was then: deleted, restored and handed over to the second', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  clock.set('2026-11-14T09:59:00Z')
  const [a, b] = [await deployment(bundle), await deployment(bundle, 'globex')]
  await tied(bundle, '10:20:00', 'droplet', '1', a.id)
  await tied(bundle, '10:30:00', 'droplet', '2', a.id)
  await tied(bundle, '10:30:00', 'volume', 'of nobody', null)
  await tied(bundle, '10:45:00', 'droplet', '1', b.id)
  await gone(bundle, '10:50:00', 'droplet', '2')
  await tied(bundle, '11:10:00', 'droplet', '2', a.id)
  await gone(bundle, '11:20:00', 'droplet', '2')
  await tied(bundle, '11:30:00.999', 'database', 'short', a.id)
  await gone(bundle, '11:30:02.000', 'database', 'short')

  clock.set('2026-11-14T12:04:59.999Z')
  assert.equal(await meter(bundle), 2, 'the hours from nine, not that which ended five minutes ago')
  const first = [
    [a.id, '10:00', 'droplet', 45 * 60, 2],
    [b.id, '10:00', 'droplet', 15 * 60, 1],
  ]
  assert.deepEqual(await usageRows(bundle), first)

  clock.set('2026-11-14T12:05:00Z')
  assert.equal(await meter(bundle), 1)
  const second = [
    [a.id, '11:00', 'database', 2, 1],
    [a.id, '11:00', 'droplet', 10 * 60, 1],
    [b.id, '11:00', 'droplet', 3600, 1],
  ]
  assert.deepEqual(await usageRows(bundle), [...first, ...second])
  assert.equal(await meter(bundle), 0, 'nothing is metered twice')
  assert.deepEqual(await usageRows(bundle), [...first, ...second])
})

test('days that were missed are made up for, some in each run, and what was metered stays', async t => {
  const bundle = await setup(t, { worker: true })
  const { clock, ctx } = bundle
  assert.equal(await meter(bundle), 0, 'without a deployment there is nothing to meter')
  clock.set('2026-11-11T09:30:00Z')
  const { id } = await deployment(bundle)
  await tied(bundle, '09:30:00', 'droplet', '1', id)
  clock.set('2026-11-14T12:40:00Z')
  const last = async () =>
    (await ctx.db.selectFrom('metered_hours').select('hour').orderBy('hour', 'desc').executeTakeFirst())?.hour
  assert.equal(await meterHours(ctx, jobPart(), 2), 48, 'two days')
  assert.equal(await last(), '2026-11-13T08:00:00.000Z')
  assert.equal((await runTask(bundle, 'metering')).status, 'completed')
  assert.equal(await last(), '2026-11-14T11:00:00.000Z')
  const seconds = (await usageRows(bundle)).map(row => row[3])
  assert.deepEqual(seconds, [1800, ...Array(74).fill(3600)], 'every hour from the first')
  const stopped = { ...jobPart(), signal: AbortSignal.abort() }
  clock.advance(3_600_000)
  assert.equal(await meterHours(ctx, stopped), 0, 'a process that stops begins no hour')
  for (const table of ['usage_hours', 'metered_hours'] as const)
    await assert.rejects(ctx.db.deleteFrom(table).execute(), /append-only/)
})

test('metered at once or days later, a life with many turns comes to the same', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  const begin = Date.parse('2026-11-14T00:00:00Z')
  clock.set('2026-11-13T23:59:58Z')
  const owners = [null, (await deployment(bundle)).id, (await deployment(bundle)).id]
  const random = generator(20261114)
  const expected = new Map<string, number>()
  const state = new Map<string, { owner: string | null; lives: boolean }>()
  const HOURS = 6
  let now = begin
  // Every other turn of events an hour may be over: it is metered while what comes next is still unknown.
  for (let turn = 0; turn < 40; turn++) {
    const next = Math.min(begin + HOURS * 3_600_000, now + 1000 * (1 + random(1400)))
    for (let second = now; second < next; second += 1000) {
      const hour = new Date(second).toISOString().slice(11, 13)
      for (const { owner, lives } of state.values()) {
        const key = `${owner} ${hour}:00`
        if (lives && owner) expected.set(key, (expected.get(key) ?? 0) + 1)
      }
    }
    now = next
    const name = `d${random(8)}`
    const known = state.get(name)
    const at = new Date(now).toISOString()
    if (known?.lives && random(3) === 0) {
      await gone(bundle, at, 'droplet', name)
      known.lives = false
    } else {
      const owner = owners[random(3)]!
      await tied(bundle, at, 'droplet', name, owner)
      state.set(name, { owner, lives: true })
    }
    if (random(10) === 0) await meter(bundle)
  }
  assert.equal(now, begin + HOURS * 3_600_000, 'the script fills the hours')
  await see(bundle, 'droplet', [])
  clock.set('2026-11-14T06:05:00Z')
  await meter(bundle)
  const rows = await usageRows(bundle)
  assert.deepEqual(
    new Map(rows.map(([id, hour, , seconds]) => [`${id} ${hour}`, seconds])),
    new Map([...expected].sort()),
  )
})

/** The same numbers in every run. */
function generator(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
}
