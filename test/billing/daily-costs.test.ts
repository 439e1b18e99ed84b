// Costs by day: every line on the days it ran, by time, to the cent and to the last decimal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedHands, haveIngested, haveResource, type Line } from '../support/billing.ts'
import { csvObjects } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/billing/costs'
const DAY = 86_400_000
type Row = Record<string, string | number | boolean | null>

/** A whole number over parts of these lengths: largest remainders first, the earlier of equals first. */
function shared(whole: bigint, lengths: number[]): bigint[] {
  const all = BigInt(lengths.reduce((sum, length) => sum + length, 0))
  const [sign, size] = whole < 0n ? [-1n, -whole] : [1n, whole]
  const parts = lengths.map((length, index) => {
    const product = size * BigInt(length)
    return { index, part: product / all, left: product % all }
  })
  let missing = size - parts.reduce((sum, { part }) => sum + part, 0n)
  for (const each of parts.toSorted((a, b) =>
    b.left > a.left ? 1 : b.left < a.left ? -1 : a.index - b.index,
  ))
    if (missing-- > 0n) each.part += 1n
  return parts.map(({ part }) => sign * part)
}

/** What each day of the line's month gets: millionths of the amount and cents, by the rule that the API documents. */
function daysOf({ amount, start_at, end_at }: Line, period: string): Map<string, [bigint, bigint]> {
  const month = Date.parse(period)
  const end = new Date(month).setUTCMonth(new Date(month).getUTCMonth() + 1)
  const within = (time: string | null | undefined, otherwise: number) =>
    Math.min(Math.max(time ? Date.parse(time) : otherwise, month), end)
  const [from, to] = [within(start_at, month), within(end_at, end)]
  const days: [string, number][] = []
  for (let day = month; day < end; day += DAY) {
    const length = Math.min(to, day + DAY) - Math.max(from, day)
    const name = new Date(day).toISOString().slice(0, 10)
    if (to > from ? length > 0 : Math.min(from, end - 1) >= day && from < day + DAY) days.push([name, length])
    else if (to <= from && day === end - DAY && from === end) days.push([name, 1])
  }
  const lengths = days.length === 1 ? [1] : days.map(([, length]) => length)
  const all = BigInt(lengths.reduce((sum, length) => sum + length, 0))
  const whole = BigInt(Math.round(Number(amount) * 1_000_000))
  const millionths = lengths.map(length => (whole * BigInt(length)) / all)
  millionths.splice(
    -1,
    1,
    millionths.slice(0, -1).reduce((left, part) => left - part, whole),
  )
  const cents = shared(BigInt(Math.round(Number(amount) * 100)), lengths)
  return new Map(days.map(([day], index) => [day, [millionths[index]!, cents[index]!]]))
}

const LINES: Line[] = [
  { amount: '6.20', tenant_id: 'acme' },
  { amount: '6.20', start_at: '2026-10-01T00:00:00Z', end_at: '2026-11-01T00:00:00Z', tenant_id: 'acme' },
  { amount: '0.01', tenant_id: 'globex' },
  {
    amount: '-3.333',
    start_at: '2026-10-05T06:30:00Z',
    end_at: '2026-10-09T18:00:00.001Z',
    tenant_id: 'globex',
  },
  {
    amount: '7.77',
    start_at: '2026-10-05T23:59:59.999Z',
    end_at: '2026-10-07T00:00:00.001Z',
    tenant_id: null,
  },
  { amount: '1.00', start_at: '2026-10-05T00:00:00Z', end_at: '2026-10-06T00:00:00Z', tenant_id: 'acme' },
  { amount: '0.05', start_at: '2026-10-05T12:00:00Z', end_at: '2026-10-07T12:00:00Z', tenant_id: 'acme' },
  { amount: '0.07', start_at: '2026-10-30T18:00:00Z', end_at: '2026-11-01T06:00:00Z', tenant_id: 'acme' },
  { amount: '5.00', start_at: '2026-10-05T12:00:00Z', end_at: '2026-10-05T12:00:00Z', tenant_id: 'acme' },
  { amount: '2.00', start_at: '2026-08-05T12:00:00Z', end_at: '2026-08-07T12:00:00Z', tenant_id: 'globex' },
  { amount: '4.00', start_at: '2026-12-05T12:00:00Z', end_at: '2026-12-07T12:00:00Z', tenant_id: 'globex' },
  { amount: '9.00', start_at: '2026-10-20T12:00:00Z', end_at: null, tenant_id: 'globex' },
  { amount: '-0.000001', start_at: null, end_at: '2026-10-03T12:00:00Z', tenant_id: null },
  { amount: '0.625', product: 'Taxes', kind: 'tax', is_tax: true, tenant_id: null },
]

async function rowsOf({ call }: Pick<Bundle, 'call'>, query: string, limit = 500): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await call('GET', `${base}?${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.status, 200, page.text)
    rows.push(...page.body.data)
    cursor = page.body.next_cursor
  }
  return rows
}

const OCTOBER = 'granularity=day&from=2026-10-01&to=2026-10-31'

test('each day has its part of every line that ran on it, by time, and the days add up to the invoice', async t => {
  const bundle = await setup(t)
  await haveIngested(bundle, LINES, { period: '2026-10-01' })
  const expected = new Map<string, [lines: number, millionths: bigint, cents: bigint, tax: bigint]>()
  for (const line of LINES)
    for (const [day, [millionths, cents]] of daysOf(line, '2026-10-01')) {
      const [lines, amount, minor, tax] = expected.get(day) ?? [0, 0n, 0n, 0n]
      expected.set(day, [lines + 1, amount + millionths, minor + cents, tax + (line.is_tax ? cents : 0n)])
    }
  const rows = await rowsOf(bundle, OCTOBER)
  const found = rows.map(row => [
    row.period,
    [
      row.lines,
      BigInt(Math.round(Number(row.amount) * 1e6)),
      BigInt(Number(row.amount_minor)),
      BigInt(Number(row.tax_minor)),
    ],
  ])
  assert.deepEqual(found, [...expected].sort())
  assert.equal(rows.length, 31)
  const [month] = await rowsOf(bundle, 'from=2026-10-01&to=2026-10-01')
  const sum = (key: string, of = rows) =>
    of.reduce((total, row) => total + Math.round(Number(row[key]) * 1e6), 0)
  for (const key of ['amount', 'amount_minor', 'net_minor', 'tax_minor'])
    assert.equal(sum(key), sum(key, [month!]), key)
})

test(
  'days are the same by any grouping, page by page, as CSV, and whichever are asked for',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    await haveIngested(bundle, LINES, { period: '2026-10-01' })
    await haveIngested(bundle, [{ amount: '3.00', tenant_id: 'acme' }], { period: '2026-09-01' })
    const all = await rowsOf(bundle, OCTOBER)
    const byTenant = await rowsOf(bundle, `${OCTOBER}&group_by=tenant,kind`)
    for (const { period, amount_minor } of all)
      assert.equal(
        byTenant.filter(row => row.period === period).reduce((sum, row) => sum + Number(row.amount_minor), 0),
        amount_minor,
        String(period),
      )
    assert.deepEqual(await rowsOf(bundle, `${OCTOBER}&group_by=tenant,kind`, 7), byTenant, 'page by page')
    const few = await rowsOf(bundle, 'granularity=day&from=2026-10-05&to=2026-10-06&group_by=tenant,kind')
    assert.deepEqual(
      few,
      byTenant.filter(({ period }) => period === '2026-10-05' || period === '2026-10-06'),
    )
    const query = 'granularity=day&from=2026-09-30&to=2026-10-02&group_by=tenant'
    const csv = await bundle.call('GET', `${base}?${query}`, { headers: { accept: 'text/csv' } })
    assert.deepEqual(
      csvObjects(csv.text),
      (await rowsOf(bundle, query)).map(row =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')])),
      ),
    )
    const top = await rowsOf(bundle, `${OCTOBER}&group_by=tenant&top=1`)
    assert.equal(
      top.reduce((sum, row) => sum + Number(row.amount_minor), 0),
      all.reduce((sum, row) => sum + Number(row.amount_minor), 0),
    )
  },
)

test('a line counts once, under all tags that its resource had then, or under the values of one key', async t => {
  const bundle = await setup(t)
  const tags = ['web', 'env:prod', 'env:eu', 'deployment:0198', 'saga:0198', 'environment:x']
  const both = await haveResource(bundle, { name: 'both', tags, tenant: 'acme' })
  const moved = await haveResource(bundle, { name: 'moved', tags: ['env:prod'], tenant: 'acme' })
  const plain = await haveResource(bundle, { name: 'plain', tags: ['deployment:0198'], tenant: 'acme' })
  await changedHands(bundle, moved, '2026-10-16T00:00:00Z', { tags: [['env:test'], ['env:prod']] })
  const of = (resource_id: string | null, amount: string, times: Partial<Line> = {}): Line => ({
    ...{ resource_id, amount, tenant_id: 'acme' },
    ...times,
  })
  const lines = [
    of(both, '1.00'),
    of(moved, '2.00', { start_at: '2026-10-01T00:00:00Z', end_at: '2026-10-16T00:00:00Z' }),
    of(moved, '4.00', { start_at: '2026-10-16T00:00:00Z', end_at: '2026-11-01T00:00:00Z' }),
    of(plain, '8.00'),
    of(null, '16.00'),
  ]
  await haveIngested(bundle, lines, { period: '2026-10-01' })
  const groups = async (query: string, side = base, token?: string) => {
    const { body } = await bundle.call(
      'GET',
      `${side}?from=2026-10-01&to=2026-10-01&${query}`,
      token ? { token } : {},
    )
    return body.data.map((row: Row) => [row.tag, row.amount])
  }
  const sets = [
    [null, '24.00'],
    ['env:eu,env:prod,environment:x,web', '1.00'],
    ['env:prod', '4.00'],
    ['env:test', '2.00'],
  ]
  const values = [
    [null, '24.00'],
    ['eu,prod', '1.00'],
    ['prod', '4.00'],
    ['test', '2.00'],
  ]
  assert.deepEqual(await groups('group_by=tag'), sets)
  assert.deepEqual(await groups('group_by=tag&tag_key=env'), values)
  assert.deepEqual(await groups('group_by=tag&tag_key=nobody-has-it'), [[null, '31.00']])
  const token = await bundle.tokens.tenant('acme')
  assert.deepEqual(await groups('group_by=tag', '/api/v1/costs', token), sets)
})

test('a tenant is shown no tags of a time in which a resource was another’s', async t => {
  const bundle = await setup(t)
  const id = await haveResource(bundle, { name: 'web', tags: ['secret'], tenant: 'globex' })
  const line = { resource_id: id, amount: '1.00', matched_by: 'hand' as const }
  await haveIngested(bundle, [{ ...line, tenant_id: 'acme' }], { period: '2026-10-01' })
  const query = '?from=2026-10-01&to=2026-10-01&group_by=tag'
  const token = await bundle.tokens.tenant('acme')
  const { body: own } = await bundle.call('GET', `/api/v1/costs${query}`, { token })
  const { body: all } = await bundle.call('GET', `${base}${query}`)
  assert.deepEqual([own.data[0].tag, all.data[0].tag], [null, 'secret'])
})
