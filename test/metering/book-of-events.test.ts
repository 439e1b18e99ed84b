// A year that is told by usage events: on time, late, and each of them more than once, beside plan changes and addons in
// mid-month, and a provider that gives money back. What each statement and each adjustment comes to is written out here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthAt } from '../../src/features/metering/period.ts'
import { readFacts } from '../../src/features/metering/read-usage.ts'
import { statementLines } from '../../src/features/metering/statement-lines.ts'
import { haveInvoice, haveResource, ingest } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { addon, deployment, move, plan } from '../support/factories.ts'
import { adjustDue, closeDue, meteredIdle } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

type BookLine = [kind: string, code: string, quantity: string, amount: number]

const starter = [
  { resource_kind: 'llm_tokens', included_qty: 10, overage_unit: 'token', overage_price_cents: 40 },
  { resource_kind: 'seats', included_qty: 2, overage_unit: 'seat', overage_price_cents: 500 },
]
const growth = [
  { resource_kind: 'llm_tokens', included_qty: 30, overage_unit: 'token', overage_price_cents: 25 },
  { resource_kind: 'seats', included_qty: 5, overage_unit: 'seat', overage_price_cents: 400 },
]

/** What the statements of a month come to, the first and its adjustments. Tokens are counted by the thousand. */
const BOOK: Record<string, { total: number; lines: BookLine[] }[]> = {
  '2026-01': [
    // 12.5 thousand, 10 included, at 40. Two seats are included.
    {
      total: 3200,
      lines: [
        ['base', 'starter', '1', 3100],
        ['included', 'llm_tokens', '10', 0],
        ['meter', 'llm_tokens', '2.5', 100],
        ['included', 'seats', '2', 0],
      ],
    },
    // 1.5 more, told in February.
    { total: 60, lines: [['meter', 'llm_tokens', '1.5', 60]] },
    // 0.1 more, told a year later.
    { total: 4, lines: [['meter', 'llm_tokens', '0.1', 4]] },
  ],
  '2026-02': [
    // Half of 3,100 and half of 9,300. Half of 10 and half of 30 thousand are included; of 12 and 9.5 the last 1.5 are beyond,
    // in growth's half, at 25: 37.5. Seven seats, by the terms of the end: two beyond five, at 400.
    {
      total: 7038,
      lines: [
        ['base', 'starter', '0.5', 1550],
        ['base', 'growth', '0.5', 4650],
        ['included', 'llm_tokens', '20', 0],
        ['meter', 'llm_tokens', '1.5', 38],
        ['included', 'seats', '5', 0],
        ['meter', 'seats', '2', 800],
      ],
    },
    // 10 more in starter's half use up what was left for growth's: 2 beyond at 40 (80), and all 9.5 at 25 (237.5) instead of 1.5.
    {
      total: 280,
      lines: [
        ['meter', 'llm_tokens', '2', 80],
        ['meter', 'llm_tokens', '8', 200],
      ],
    },
  ],
  '2026-03': [
    // 21 of 31 days of 620; 30 and 21/31 of 5 are included, so 205/31 of 40 are beyond, at 25: 165.32.
    {
      total: 9885,
      lines: [
        ['base', 'growth', '1', 9300],
        ['addon', 'tokens', '0.677419', 420],
        ['included', 'llm_tokens', '33.387097', 0],
        ['meter', 'llm_tokens', '6.612903', 165],
        ['included', 'seats', '5', 0],
      ],
    },
    // Two users at the resource price of 7.
    { total: 14, lines: [['meter', 'users', '2', 14]] },
  ],
  '2026-04': [
    {
      total: 9920,
      lines: [
        ['base', 'growth', '1', 9300],
        ['addon', 'tokens', '1', 620],
        ['included', 'llm_tokens', '35', 0],
      ],
    },
  ],
  '2026-05': [
    // Half of 620; 30 and half of 5 are included.
    {
      total: 9610,
      lines: [
        ['base', 'growth', '1', 9300],
        ['addon', 'tokens', '0.5', 310],
        ['included', 'llm_tokens', '30', 0],
      ],
    },
    // 4 more: 2.5 of them within, 1.5 beyond at 25: 37.5.
    {
      total: 38,
      lines: [
        ['included', 'llm_tokens', '2.5', 0],
        ['meter', 'llm_tokens', '1.5', 38],
      ],
    },
    // 1 more: 2.5 beyond are 62.5, rounded 63, of which 38 are told.
    { total: 25, lines: [['meter', 'llm_tokens', '1', 25]] },
  ],
  '2026-06': [
    // 10 days of 9,300, 20 of 3,100: 5,166.67. A third of 30 and two thirds of 10 are included, so 4/3 of 18 are beyond, at 25:
    // 33.33. Three seats, by the terms of the end.
    {
      total: 5700,
      lines: [
        ['base', 'growth', '0.333333', 3100],
        ['base', 'starter', '0.666667', 2067],
        ['included', 'llm_tokens', '16.666667', 0],
        ['meter', 'llm_tokens', '1.333333', 33],
        ['included', 'seats', '2', 0],
        ['meter', 'seats', '1', 500],
      ],
    },
  ],
  '2026-07': [
    {
      total: 3100,
      lines: [
        ['base', 'starter', '1', 3100],
        ['included', 'llm_tokens', '10', 0],
      ],
    },
    { total: 20, lines: [['meter', 'llm_tokens', '0.5', 20]] },
  ],
  '2026-08': [
    {
      total: 3700,
      lines: [
        ['base', 'starter', '1', 3100],
        ['included', 'llm_tokens', '10', 0],
        ['meter', 'llm_tokens', '15', 600],
      ],
    },
    { total: 10, lines: [['meter', 'llm_tokens', '0.25', 10]] },
  ],
  '2026-09': [{ total: 3100, lines: [['base', 'starter', '1', 3100]] }],
  '2026-10': [{ total: 3100, lines: [['base', 'starter', '1', 3100]] }],
  '2026-11': [
    // Half of 9,300, and half of 30 included; 16 in that half, 1 beyond at 25. After the end 2 at the resource price of 50.
    {
      total: 4775,
      lines: [
        ['base', 'growth', '0.5', 4650],
        ['included', 'llm_tokens', '15', 0],
        ['meter', 'llm_tokens', '1', 25],
        ['meter', 'llm_tokens', '2', 100],
      ],
    },
  ],
  // Nothing is agreed any more.
  '2026-12': [
    { total: 150, lines: [['meter', 'llm_tokens', '3', 150]] },
    { total: 50, lines: [['meter', 'llm_tokens', '1', 50]] },
  ],
}

test(
  'a book of twelve months of usage events, late and doubled ones too: every statement and adjustment to the cent, the same after every month is told again',
  onPostgresAlone,
  async t => {
    const bundle: Bundle = await setup(t)
    const { call, clock, ctx } = bundle
    clock.set('2026-01-01T00:00:00Z')
    await meterOf(bundle, { code: 'llm_tokens', unit: 'token', scale: 1_000 })
    await meterOf(bundle, { code: 'seats', aggregation: 'max', unit: 'seat' })
    await meterOf(bundle, { code: 'users', aggregation: 'unique', unit: 'user' })
    await plan(bundle, { code: 'starter', price: 3100, items: starter })
    await plan(bundle, { code: 'growth', price: 9300, items: growth })
    await addon(bundle, { code: 'tokens', resource_kind: 'llm_tokens', qty: 5, price_cents: 620 })
    for (const [resource_kind, unit, price_cents] of [
      ['llm_tokens', 'token', 50],
      ['users', 'user', 7],
    ]) {
      const body = { resource_kind, unit, price_cents, currency: 'USD', effective_from: '2026-01-01' }
      assert.equal((await call('POST', '/api/v1/catalog/resource-prices', { body })).status, 201)
    }
    const { id } = await deployment(bundle, 'acme')
    const { id: other } = await deployment(bundle, 'globex')
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await call(method, `/api/v1/deployments/${path}`, { body })
      assert.ok(answer.status < 300, answer.text)
      return answer.body?.data
    }
    for (const each of [id, other]) await ask('POST', `${each}/subscribe`, { plan_code: 'starter' })
    const change = (plan_code: string, effective_from = 'now') =>
      ask('POST', `${id}/change-plan-version`, { plan_code, effective_from })
    for (const [name, tenant] of [
      ['web-a', 'acme'],
      ['web-b', 'globex'],
    ] as const)
      await haveResource(bundle, { name, tenant, first: '2026-01-01T00:00:00Z' })

    const events: object[] = []
    const tell = async (time: string, ...counts: [type: string, value: unknown][]) => {
      const at = `${time}T09:00:00Z`
      const told = counts.map(([type, value]) =>
        event(id, { id: `e${events.length}-${type}`, type, time: at, data: { value } }),
      )
      events.push(...told)
      // Doubled in the request, and once more afterwards.
      const { new: made, known } = await send(bundle, [...told, ...told])
      assert.deepEqual([made, known], [told.length, told.length])
      assert.equal((await send(bundle, told)).new, 0)
    }
    const tokens = (time: string, value: number) => tell(time, ['llm_tokens', value])

    /** Statements by month, each as it was first shown. */
    const kept = new Map<string, string[]>()
    const listed = new Map<string, Any>()
    const keep = async () => {
      const { data } = (await call('GET', `/api/v1/deployments/${id}/statements?limit=100`)).body
      for (const statement of data.toReversed()) {
        // The hash is over all of it.
        const before = listed.get(statement.id)
        if (before) assert.deepEqual(statement, before)
        else {
          listed.set(statement.id, statement)
          const { text } = await call('GET', `/api/v1/statements/${statement.id}`)
          kept.set(statement.period, [...(kept.get(statement.period) ?? []), text])
        }
      }
      assert.equal(data.length, listed.size)
    }
    const sumOf = (period: string) =>
      (kept.get(period) ?? []).reduce((sum, text) => sum + JSON.parse(text).data.total_cents, 0)
    /** What the statements of a month have told is what its usage shows, also in what is charged to the tenant. */
    const settled = async () => {
      for (const period of kept.keys()) {
        const usage = await ask('GET', `${id}/usage?period=${period}`)
        assert.equal(usage.total_cents, sumOf(period), period)
      }
    }
    const close = async (period: string) => {
      // The other tenant's events have the same names, and are its own.
      const day = `${period}-01T09:00:00Z`
      await send(
        bundle,
        event(other, { id: 'e0-llm_tokens', source: period, time: day, data: { value: 11_000 } }),
      )
      clock.set(
        new Date(Date.parse(monthAt(period, clock.now()).end_at) + 3 * 86_400_000 + 300_000).toISOString(),
      )
      await meteredIdle(bundle)
      assert.equal(await closeDue(bundle), 2, period)
      assert.equal(await adjustDue(bundle), 0, period)
      await replay()
    }
    /** Everything is told again: nothing of it is new, and no month comes to anything else. */
    const replay = async () => {
      if (events.length > 0) assert.equal((await send(bundle, events)).new, 0)
      assert.deepEqual([await closeDue(bundle), await adjustDue(bundle)], [0, 0])
      await keep()
      await settled()
    }
    const adjusted = async (statements: number) => {
      assert.equal(await adjustDue(bundle), statements)
      await replay()
    }

    clock.set('2026-01-20T12:00:00Z')
    await tell('2026-01-05', ['llm_tokens', 8_000], ['seats', 2])
    await tokens('2026-01-20', 4_500)
    await close('2026-01')
    await tokens('2026-01-31', 1_500)
    await adjusted(1)
    await tell('2026-02-03', ['llm_tokens', 12_000], ['seats', 7])
    clock.set('2026-02-15T00:00:00Z')
    await change('growth')
    clock.set('2026-02-20T12:00:00Z')
    await tokens('2026-02-20', 9_500)
    await close('2026-02')
    clock.set('2026-03-11T00:00:00Z')
    const { id: pack } = await ask('POST', `${id}/addons`, { code: 'tokens' })
    clock.set('2026-03-25T12:00:00Z')
    await tokens('2026-02-03', 10_000)
    await adjusted(1)
    await tell('2026-03-25', ['llm_tokens', 40_000], ['seats', 5])
    await close('2026-03')
    clock.set('2026-04-20T12:00:00Z')
    await tell('2026-03-30', ['users', 'ann'])
    await tell('2026-03-31', ['users', 'bob'])
    await adjusted(1)
    await tokens('2026-04-20', 35_000)
    await close('2026-04')
    await tell('2026-03-29', ['users', 'ann'])
    await adjusted(0)
    clock.set('2026-05-16T12:00:00Z')
    await ask('DELETE', `${id}/addons/${pack}`)
    await tokens('2026-05-16', 30_000)
    await close('2026-05')
    await tokens('2026-05-02', 4_000)
    await adjusted(1)
    await change('starter', '2026-06-11')
    clock.set('2026-06-30T12:00:00Z')
    await tell('2026-06-05', ['llm_tokens', 18_000], ['seats', 3])
    await close('2026-06')
    await tokens('2026-05-31', 1_000)
    await adjusted(1)
    clock.set('2026-07-15T12:00:00Z')
    await tokens('2026-07-15', 10_000)
    await close('2026-07')
    await tokens('2026-08-01', 25_000)
    await close('2026-08')
    await tokens('2026-07-01', 500)
    await tokens('2026-08-31', 250)
    await adjusted(2)
    await close('2026-09')
    await change('growth', 'next_period')
    await close('2026-10')
    await tokens('2026-11-03', 16_000)
    clock.set('2026-11-16T00:00:00Z')
    await move(bundle, id, 'cancelled')
    clock.set('2026-11-20T12:00:00Z')
    await tokens('2026-11-20', 2_000)
    await close('2026-11')
    await tokens('2026-12-02', 3_000)
    await close('2026-12')
    await tokens('2026-12-31', 1_000)
    await tokens('2026-01-15', 100)
    await adjusted(2)

    const short = (text: string) => {
      const { total_cents, lines } = JSON.parse(text).data
      return {
        total: total_cents,
        lines: lines.map((line: Any) => [line.kind, line.code, line.quantity, line.amount_cents]),
      }
    }
    assert.deepEqual(Object.fromEntries([...kept].map(([period, texts]) => [period, texts.map(short)])), BOOK)
    const year = [...kept.keys()].reduce((sum, period) => sum + sumOf(period), 0)
    assert.equal(year, 63_779)
    for (const texts of kept.values()) {
      const [first, ...rest] = texts.map(text => JSON.parse(text).data)
      assert.equal(first.adjusts, null)
      for (const [index, { adjusts, sequence }] of rest.entries())
        assert.deepEqual([adjusts, sequence], [first.id, index + 2])
    }

    // Worked out once more from what is on record, every month has the lines of its statements, added up.
    for (const [period, texts] of kept) {
      const month = monthAt(period, clock.now())
      const { facts } = await readFacts(ctx.db, clock.now(), month, [id], {
        time: ctx.tenantTime,
        forecast: false,
      })
      const sums = new Map<string, number>()
      const add = (line: Any, sign: number) => {
        const key = [line.kind, line.code, line.from, line.to, line.price_cents].join(' ')
        sums.set(key, (sums.get(key) ?? 0) + sign * Number(line.amount_cents))
      }
      for (const text of texts) for (const line of JSON.parse(text).data.lines) add(line, 1)
      for (const line of statementLines(facts.get(id)!)) add(line, -1)
      assert.deepEqual(new Set(sums.values()), new Set([0]), period)
    }

    // What the provider charged and gave back: all of it is some tenant's or nobody's, and none of it is on a statement.
    for (const period of kept.keys()) {
      const [start, end] = [`${period}-02 00:00:00 +0000`, `${period}-03 00:00:00 +0000`]
      const lines = [
        row({ description: 'web-a (x)', USD: '$24.35', start, end }),
        row({ description: 'web-a (x)', USD: '-$4.35', start, end }),
        row({ description: 'web-b (x)', USD: '$7.005', start, end }),
        row({ product: 'Refunds', description: 'Goodwill', USD: '($3.33)', start, end }),
      ]
      const invoice = await haveInvoice(bundle, { period: `${period}-01`, amount: '23.675' })
      assert.equal(await ingest(bundle, invoice, csv(lines)), 'ingested')
      const { body } = await call('GET', `/api/v1/billing/margins?period=${period}&by=tenant`)
      const minor = (costs: Any[]) => costs.reduce((sum, { amount_minor }) => sum + amount_minor, 0)
      assert.deepEqual(
        body.data.map((each: Any) => [each.tenant_id, minor(each.charged), minor(each.costs)]),
        [
          ['acme', sumOf(period), 2000],
          ['globex', 3140, 701],
        ],
      )
      assert.equal(minor(body.unassigned), -333)
      const { total } = (
        await ctx.db
          .selectFrom('cloud_cost_lines')
          .select(({ fn }) => fn.sum('amount_minor').as('total'))
          .where('period', '=', `${period}-01`)
          .execute()
      )[0]!
      assert.equal(Number(total), 2000 + 701 - 333)
    }
    await replay()
  },
)
