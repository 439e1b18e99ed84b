// Costs over time: months of lines, by any dimension, and never a cent missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CostQuery, costQuestion, monthly } from '../../src/features/billing/costs.ts'
import { haveIngested, type Line } from '../support/billing.ts'
import { csvObjects } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/billing/costs'
const COLUMNS = { tenant: 'tenant_id', deployment: 'deployment_id', kind: 'kind', project: 'project_name' }
type Dimension = keyof typeof COLUMNS
type Row = Record<string, string | number | boolean | null>

/** Every set of dimensions. */
const NAMES = Object.keys(COLUMNS) as Dimension[]
const GROUPINGS = Array.from({ length: 2 ** NAMES.length }, (_, set) =>
  NAMES.filter((_, index) => (set >> index) % 2 === 1),
)

/** Three months of lines of all sorts: of several tenants and of nobody, taxes, credits, fractions, two currencies. */
async function haveBook(bundle: Bundle) {
  const apps = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const tenants = [
    'acme',
    'globex',
    null,
    'a-tenant-whose-id-is-much-longer-than-that-of-any-other-tenant-at-all-🙂',
  ]
  const projects = [
    'acme',
    null,
    'ä "project", named',
    `${'long '.repeat(300)}one`,
    `${'long '.repeat(300)}two`,
  ]
  const lines: (Line & { period: string; currency: string })[] = []
  for (const [month, period] of ['2026-08-01', '2026-09-01', '2026-10-01'].entries())
    for (const currency of ['USD', 'EUR'])
      for (let n = 0; n < 40 + month; n++) {
        const taxed = n % 11 === 0
        lines.push({
          period,
          currency,
          product: taxed ? 'Taxes' : 'Droplets',
          kind: taxed ? 'tax' : (['droplet', 'volume', 'credit'] as const)[n % 3]!,
          description: taxed ? 'STATE SALES TAX (6.25%)' : `web-${n} (s-1vcpu-1gb)`,
          tenant_id: tenants[n % 4]!,
          deployment_id: n % 4 < 2 && n % 5 > 0 ? apps[n % 4]!.id : null,
          project_name: projects[n % 5]!,
          matched_by: n % 4 === 2 ? null : 'auto',
          amount: n % 3 === 2 ? `-${n}.005` : `${n * (month + 1)}.125`,
        })
      }
  for (const period of ['2026-08-01', '2026-09-01', '2026-10-01'])
    for (const currency of ['USD', 'EUR'])
      await haveIngested(
        bundle,
        lines.filter(line => line.period === period && line.currency === currency),
        { period, currency },
      )
  return { lines, apps }
}

async function pages(bundle: Pick<Bundle, 'call'>, query: string, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await bundle.call('GET', `${base}?${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.status, 200, page.text)
    assert.ok(page.body.data.length <= limit)
    rows.push(...page.body.data)
    cursor = page.body.next_cursor
  }
  return rows
}

/** Thousandths of a unit: exact where floats are not. */
const exact = (amount: unknown): number => Math.round(Number(amount) * 1000)

function addedUp(lines: (Line & { period: string; currency: string })[], dimensions: Dimension[]) {
  const groups = new Map<string, { lines: number; amount: number; minor: number }>()
  for (const line of lines) {
    const key = JSON.stringify([
      line.period,
      line.currency,
      ...dimensions.map(name => line[COLUMNS[name] as 'kind']),
    ])
    const sum = groups.get(key) ?? { lines: 0, amount: 0, minor: 0 }
    const minor = Math.round(Number(line.amount) * 100)
    groups.set(key, {
      lines: sum.lines + 1,
      amount: sum.amount + exact(line.amount),
      minor: sum.minor + minor,
    })
  }
  return groups
}

test(
  'by every grouping the rows are the groups of lines, page by page, and add up to the invoices',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { lines } = await haveBook(bundle)
    const { body } = await bundle.call('GET', '/api/v1/billing/invoices')
    const invoiced = body.data.reduce(
      (sum: number, invoice: { amount: string }) => sum + exact(invoice.amount),
      0,
    )
    for (const dimensions of GROUPINGS) {
      const query = `from=2026-08-31&to=2026-10-01${dimensions.length > 0 ? `&group_by=${dimensions}` : ''}`
      const rows = await pages(bundle, query, 500)
      const expected = addedUp(lines, dimensions)
      const found = rows.map(row => [
        JSON.stringify([row.period, row.currency, ...dimensions.map(name => row[COLUMNS[name]])]),
        { lines: row.lines, amount: exact(row.amount), minor: row.amount_minor },
      ])
      assert.equal(found.length, expected.size, query)
      assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected), query)
      assert.equal(
        rows.reduce((sum, row) => sum + exact(row.amount), 0),
        invoiced,
        query,
      )
      for (const row of rows)
        assert.equal(Number(row.net_minor) + Number(row.tax_minor), row.amount_minor, 'net and tax')
      assert.deepEqual(await pages(bundle, query, 7), rows, 'page by page')
      const csv = await bundle.call('GET', `${base}?${query}`, { headers: { accept: 'text/csv' } })
      assert.deepEqual(
        csvObjects(csv.text),
        rows.map(row =>
          Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value ?? '')])),
        ),
      )
    }
  },
)

test('top shows the largest groups of all months, what is nobody’s, and adds the rest up as others', async t => {
  const bundle = await setup(t)
  const line = (tenant_id: string | null, amount: string): Line => ({ tenant_id, amount })
  const september = [
    line('a', '1.00'),
    line('b', '5.00'),
    line('c', '3.00'),
    line(null, '0.10'),
    line('d', '0.50'),
  ]
  const october = [line('a', '9.00'), line('c', '1.00'), line('d', '0.25')]
  await haveIngested(bundle, september, { period: '2026-09-01' })
  await haveIngested(bundle, october)
  await haveIngested(bundle, [line('e', '2.00')], { currency: 'EUR' })
  const query = 'from=2026-09-01&to=2026-10-31&group_by=tenant&top=2'
  const rows = await pages(bundle, query, 500)
  assert.deepEqual(
    rows.map(row => [row.period, row.tenant_id, row.others, row.currency, row.amount, row.lines]),
    [
      ['2026-09-01', null, false, 'USD', '0.10', 1],
      ['2026-09-01', 'a', false, 'USD', '1.00', 1],
      ['2026-09-01', 'b', false, 'USD', '5.00', 1],
      ['2026-09-01', null, true, 'USD', '3.50', 2],
      ['2026-10-01', 'a', false, 'USD', '9.00', 1],
      ['2026-10-01', 'e', false, 'EUR', '2.00', 1],
      ['2026-10-01', null, true, 'USD', '1.25', 2],
    ],
  )
  assert.deepEqual(await pages(bundle, query, 2), rows, 'page by page')
  const csv = await bundle.call('GET', `${base}?${query}`, { headers: { accept: 'text/csv' } })
  assert.deepEqual(
    csvObjects(csv.text).map(row => row.others),
    ['false', 'false', 'false', 'true', 'false', 'false', 'true'],
  )
})

test('costs are narrowed to a tenant, a deployment or a kind', async t => {
  const bundle = await setup(t)
  const { lines, apps } = await haveBook(bundle)
  const sumOf = async (query: string) =>
    (await pages(bundle, query, 500)).reduce((sum, row) => sum + exact(row.amount), 0)
  const of = (fits: (line: Line) => boolean) =>
    lines.filter(fits).reduce((sum, { amount }) => sum + exact(amount), 0)
  assert.equal(
    await sumOf('tenant_id=acme'),
    of(line => line.tenant_id === 'acme'),
  )
  assert.equal(
    await sumOf(`deployment_id=${apps[1]!.id}`),
    of(line => line.deployment_id === apps[1]!.id),
  )
  assert.equal(
    await sumOf('kind=volume&tenant_id=acme'),
    of(line => line.kind === 'volume' && line.tenant_id === 'acme'),
  )
})

test('the last twelve months are asked about unless the query says otherwise', async t => {
  const bundle = await setup(t)
  for (const period of ['2025-11-01', '2025-12-01', '2026-11-01', '2026-12-01'])
    await haveIngested(bundle, [{ amount: '1.00' }], { period })
  const periods = async (query: string) => (await pages(bundle, query, 500)).map(row => row.period)
  assert.deepEqual(await periods(''), ['2025-12-01', '2026-11-01'])
  assert.deepEqual(await periods('to=2026-12-31'), ['2026-11-01', '2026-12-01'])
  assert.deepEqual(await periods('from=2025-11-30'), ['2025-11-01', '2025-12-01', '2026-11-01'])
  assert.deepEqual(await periods('from=2025-11-30&to=2025-11-01'), ['2025-11-01'])
})

test('a question that makes no sense is refused with what is wrong', async t => {
  const { call } = await setup(t)
  for (const [query, pointer, message] of [
    ['from=2026-02-30', '?from', /date/],
    ['from=2026-11-01&to=2026-10-31', '?from', /after to/],
    ['from=2016-11-01&to=2026-11-01', '?from', /120 months/],
    ['granularity=week', '?granularity', /./],
    ['granularity=day&from=2025-11-15&to=2026-11-16', '?from', /366 days/],
    ['granularity=day&from=2026-11-16&to=2026-11-15', '?from', /after to/],
    ['group_by=tags', '?group_by', /tenant, deployment, kind, project, tag/],
    ['group_by=kind&tag_key=env', '?tag_key', /group_by of tag/],
    ['group_by=tag&tag_key=a:b', '?tag_key', /./],
    ['group_by=tenant,', '?group_by', /tenant, deployment/],
    ['group_by=constructor', '?group_by', /tenant, deployment/],
    ['group_by=kind,kind', '?group_by', /twice/],
    ['top=3', '?top', /group_by/],
    ['group_by=kind&top=0', '?top', /1/],
    ['deployment_id=x', '?deployment_id', /uuid/],
    ['cursor=x', '?cursor', /cursor/],
    ['project=x', '?project', /./],
  ] as const) {
    const { status, body } = await call('GET', `${base}?${query}`)
    assert.deepEqual([status, body.errors?.[0].pointer], [422, pointer], query)
    assert.match(body.errors[0].message, message, query)
  }
  for (const query of ['from=0000-01-01&to=0000-02-01', 'to=0001-01-01', 'to=9999-12-31'])
    assert.ok([200, 422].includes((await call('GET', `${base}?${query}`)).status), query)
  assert.equal((await call('GET', `${base}?from=2016-12-01&to=2026-11-01`)).status, 200)
  assert.equal((await call('GET', `${base}?granularity=day&from=2025-11-16&to=2026-11-16`)).status, 200)
  const csv = await call('GET', `${base}?cursor=x`, { headers: { accept: 'text/csv' } })
  assert.equal(csv.status, 422)
  assert.equal((await call('GET', base, { token: null })).status, 401)
})

test('a cursor of one grouping is none of another', async t => {
  const bundle = await setup(t)
  await haveBook(bundle)
  const { body } = await bundle.call('GET', `${base}?group_by=tenant&limit=1`)
  assert.equal((await bundle.call('GET', `${base}?group_by=kind&cursor=${body.next_cursor}`)).status, 422)
  const later = await bundle.call('GET', `${base}?group_by=tenant&from=2026-10-01&cursor=${body.next_cursor}`)
  assert.ok(
    later.body.data.every((row: Row) => row.period === '2026-10-01'),
    'months before stay left out',
  )
})

test('a question of months is asked month by month for a download', () => {
  const question = costQuestion({ from: '2025-12-31', to: '2026-02-01' }, new Date('2026-11-15T00:00:00Z'))
  assert.deepEqual(question, {
    from: '2025-12-01',
    to: '2026-02-01',
    granularity: 'month',
    dimensions: [],
    estimates: true,
  })
  assert.deepEqual(
    [...monthly(question)].map(({ from, to }) => [from, to]),
    [
      ['2025-12-01', '2025-12-01'],
      ['2026-01-01', '2026-01-01'],
      ['2026-02-01', '2026-02-01'],
    ],
  )
})

test('a question of days is asked month by month too, of the days asked for', () => {
  const asked = (query: CostQuery) =>
    costQuestion({ granularity: 'day', ...query }, new Date('2026-11-15T23:59:59Z'))
  const question = asked({ from: '2025-12-31', to: '2026-02-02' })
  assert.deepEqual(
    [...monthly(question)].map(({ from, to }) => [from, to]),
    [
      ['2025-12-31', '2025-12-31'],
      ['2026-01-01', '2026-01-31'],
      ['2026-02-01', '2026-02-02'],
    ],
  )
  const { from, to } = asked({})
  assert.deepEqual([from, to], ['2026-10-16', '2026-11-15'], 'unless said otherwise 31 days')
})
