// A year of one subscription: a trial, plan changes and addons in mid-month, scheduled ones too, usage, the end. What each
// statement comes to is written out here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthAt } from '../../src/features/metering/period.ts'
import { readFacts } from '../../src/features/metering/read-usage.ts'
import { statementLines } from '../../src/features/metering/statement-lines.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan } from '../support/factories.ts'
import { closeDue, gone, meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

const day = (time: string) => `2026-${time}T00:00:00Z`
const droplets = (included_qty: number, overage_price_cents: number) => [
  { resource_kind: 'droplet', included_qty, overage_unit: 'hour', overage_price_cents },
]

test(
  'a book of twelve months: every statement to the cent, whatever comes later, and the same when it is worked out again',
  onPostgresAlone,
  async t => {
    const bundle: Bundle = await setup(t)
    const { call, clock, ctx } = bundle
    clock.set(day('01-01'))
    const starter = await plan(bundle, { price: 3100, items: droplets(1, 2) })
    const growth = await plan(bundle, { price: 9300, items: droplets(3, 1) })
    const seats = await addon(bundle, { resource_kind: 'seats', qty: 5, price_cents: 620 })
    const disk = await addon(bundle, { resource_kind: 'volume', qty: 1, price_cents: 1000 })
    for (const [resource_kind, price_cents] of [
      ['volume', 3],
      ['droplet', 5],
    ])
      await call('POST', '/api/v1/catalog/resource-prices', {
        body: { resource_kind, unit: 'hour', price_cents, currency: 'USD', effective_from: '2026-01-01' },
      })
    const { id } = await deployment(bundle)
    const path = `/api/v1/deployments/${id}`
    const send = async (method: string, where: string, body?: object) => {
      const { status, body: answer, text } = await call(method, `${path}${where}`, { body })
      assert.ok(status < 300, text)
      return answer?.data
    }
    const change = (plan_code: string, effective_from = 'now') =>
      send('POST', '/change-plan-version', { plan_code, effective_from })

    const kept = new Map<string, { statement: string; usage: string }>()
    /** Three days into the month after, everything is closed, and nothing of before has changed. */
    const close = async (period: string) => {
      clock.set(
        new Date(Date.parse(monthAt(period, clock.now()).end_at) + 3 * 86_400_000 + 300_000).toISOString(),
      )
      await meter(bundle)
      assert.equal(await closeDue(bundle), 1, period)
      const [newest] = (await call('GET', `${path}/statements?limit=1`)).body.data
      assert.equal(newest.period, period)
      const statement = (await call('GET', `/api/v1/statements/${newest.id}`)).text
      const usage = (await call('GET', `${path}/usage?period=${period}`)).text
      assert.equal(JSON.parse(usage).data.total_cents, newest.total_cents, 'usage and statement are equal')
      kept.set(period, { statement, usage })
      for (const [month, { statement, usage }] of kept) {
        const shown = await call('GET', `/api/v1/statements/${JSON.parse(statement).data.id}`)
        assert.equal(shown.text, statement, `${month} after ${period}`)
        assert.equal(
          (await call('GET', `${path}/usage?period=${month}`)).text,
          usage,
          `${month} after ${period}`,
        )
      }
    }

    await send('POST', '/subscribe', { plan_code: starter, trial_ends_at: day('02-15') })
    await tied(bundle, day('01-10'), 'droplet', '1', id)
    await close('2026-01')
    await tied(bundle, day('02-20'), 'droplet', ['1', '2'], id)
    await close('2026-02')
    await gone(bundle, day('03-05'), 'droplet', '2')
    clock.set(day('03-11'))
    const { id: seatsId } = await send('POST', '/addons', { code: seats })
    await close('2026-03')
    clock.set(day('04-16'))
    await change(growth)
    await close('2026-04')
    clock.set('2026-05-16T12:00:00Z')
    await send('DELETE', `/addons/${seatsId}`)
    await close('2026-05')
    await change(starter, '2026-06-11')
    const { id: diskId } = await send('POST', '/addons', {
      code: disk,
      quantity: 3,
      effective_from: '2026-06-21',
    })
    await close('2026-06')
    await tied(bundle, day('07-11'), 'volume', ['a', 'b', 'c', 'd'], id)
    await close('2026-07')
    for (const name of ['a', 'b', 'c', 'd']) await gone(bundle, day('08-06'), 'volume', name)
    await send('DELETE', `/addons/${diskId}?effective_from=2026-08-16T12:00:00Z`)
    await close('2026-08')
    await tied(bundle, '2026-09-10T10:00:00Z', 'droplet', ['1', '3', '4'], id)
    clock.set('2026-09-10T10:30:00Z')
    await change(growth)
    for (const name of ['3', '4']) await gone(bundle, day('09-11'), 'droplet', name)
    await close('2026-09')
    await change(starter, 'next_period')
    await close('2026-10')
    clock.set(day('11-16'))
    await move(bundle, id, 'cancelled')
    await close('2026-11')
    await gone(bundle, day('12-04'), 'droplet', '1')
    await close('2026-12')

    const base = (code: string, amount: number) => ['base', code, amount]
    const book: Record<string, { total: number; lines: (string | number)[][] }> = {
      // In the trial.
      '2026-01': { total: 0, lines: [base(starter, 0), ['included', 'droplet', 0]] },
      // 14 of 28 days at 3,100; a second droplet for 9 days, 216 hours at 2.
      '2026-02': {
        total: 1982,
        lines: [base(starter, 1550), ['included', 'droplet', 0], ['overage', 'droplet', 432]],
      },
      // 21 of 31 days of 620; four days of the second droplet, 96 hours at 2.
      '2026-03': {
        total: 3712,
        lines: [
          base(starter, 3100),
          ['addon', seats, 420],
          ['included', 'droplet', 0],
          ['overage', 'droplet', 192],
        ],
      },
      // Half of 3,100, half of 9,300.
      '2026-04': {
        total: 6820,
        lines: [base(starter, 1550), base(growth, 4650), ['addon', seats, 620], ['included', 'droplet', 0]],
      },
      // Half of 620.
      '2026-05': {
        total: 9610,
        lines: [base(growth, 9300), ['addon', seats, 310], ['included', 'droplet', 0]],
      },
      // 10 days of 9,300 (3,100), 20 of 3,100 (2,066.67), 10 of three at 1,000 (1,000): 6,166.67.
      '2026-06': {
        total: 6167,
        lines: [base(growth, 3100), base(starter, 2067), ['addon', disk, 1000], ['included', 'droplet', 0]],
      },
      // Four volumes for 21 days, one beyond the three: 504 hours at 3.
      '2026-07': {
        total: 7612,
        lines: [
          base(starter, 3100),
          ['addon', disk, 3000],
          ['included', 'droplet', 0],
          ['included', 'volume', 0],
          ['overage', 'volume', 1512],
        ],
      },
      // Five days of the fourth volume, 120 hours at 3; half of 3,000.
      '2026-08': {
        total: 4960,
        lines: [
          base(starter, 3100),
          ['addon', disk, 1500],
          ['included', 'droplet', 0],
          ['included', 'volume', 0],
          ['overage', 'volume', 360],
        ],
      },
      // 226.5 of 720 hours at 3,100 (975.21) and 493.5 at 9,300 (6,374.38): 7,349.58. The hour of the change counts under the
      // old plan: two droplets beyond one, at 2; the hours after it under the new one, which includes three.
      '2026-09': {
        total: 7354,
        lines: [
          base(starter, 975),
          base(growth, 6375),
          ['included', 'droplet', 0],
          ['overage', 'droplet', 4],
        ],
      },
      '2026-10': { total: 9300, lines: [base(growth, 9300), ['included', 'droplet', 0]] },
      // Half of 3,100. The droplet outlives the plan: 15 days, 360 hours at the resource price of 5.
      '2026-11': {
        total: 3350,
        lines: [base(starter, 1550), ['included', 'droplet', 0], ['overage', 'droplet', 1800]],
      },
      // Three days, 72 hours at 5.
      '2026-12': { total: 360, lines: [['overage', 'droplet', 360]] },
    }
    const inShort = (statement: Any) => ({
      total: statement.total_cents,
      lines: statement.lines.map((line: Any) => [line.kind, line.code, line.amount_cents]),
    })
    const closed = [...kept].map(([period, { statement }]) => [period, inShort(JSON.parse(statement).data)])
    assert.deepEqual(Object.fromEntries(closed), book)
    const year = Object.values(book).reduce((sum, { total }) => sum + total, 0)
    assert.equal(year, 61_227)

    // Worked out once more from what is on record, every month has the very same lines.
    for (const [period, { statement }] of kept) {
      const { facts } = await readFacts(ctx.db, clock.now(), monthAt(period, clock.now()), [id], {
        time: ctx.tenantTime,
        forecast: false,
      })
      const again = JSON.parse(
        JSON.stringify(statementLines(facts.get(id)!), (_, value) =>
          typeof value === 'bigint' ? Number(value) : value,
        ),
      )
      assert.deepEqual(again, JSON.parse(statement).data.lines, period)
    }
    assert.equal(await closeDue(bundle), 0)
  },
)
