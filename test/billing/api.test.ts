// /api/v1/billing as an operator meets it: invoices, their lines, what the lines are for, and saying so by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBalance } from '../../src/features/billing/invoice-store.ts'
import { rematchLines } from '../../src/features/billing/match-lines.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  changedHands,
  costLines,
  haveIngested,
  haveInvoice,
  haveResource,
  ingest,
  invoiceOf,
  type Lived,
} from '../support/billing.ts'
import { csv, type Row, row } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { settleAfterRefusal } from '../support/settling.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'

const base = '/api/v1/billing'

const line = (name: string, start = '2026-10-01 00:00:00', end = '2026-10-31 23:59:59', more: Row = {}) =>
  row({ description: `${name} (s-1vcpu-1gb)`, start: `${start} +0000`, end: `${end} +0000`, ...more })

/** Ingests the lines as an invoice of their own; the lines as shown. */
async function ingested(bundle: Bundle, rows: Row[], period = '2026-10-01') {
  const invoice = await haveInvoice(bundle, { amount: '1.00', period })
  assert.equal(await ingest(bundle, invoice, csv(rows)), 'ingested')
  return { invoice, lines: await costLines(bundle, `invoice_id=${invoice.id}`) }
}

test('a line is matched to the one resource of its kind and name that lived while it ran, and else to none', async t => {
  const bundle = await setup(t)
  const have = (lived: Lived) => haveResource(bundle, lived)
  const web = await have({ name: 'Web-01' })
  await have({ name: 'web-01', kind: 'volume' })
  await have({ name: 'twin' })
  await have({ name: 'TWIN' })
  const gone = await have({ name: 'gone', last: '2026-10-10T10:15:00Z', deleted: '2026-10-10T13:15:00Z' })
  await have({ name: 'long-gone', last: '2026-09-05T10:15:00Z', deleted: '2026-09-05T13:15:00Z' })
  const late = await have({ name: 'late', last: '2026-10-10T09:15:00Z', deleted: '2026-10-10T12:15:00Z' })
  const old = await have({ name: 'anew', last: '2026-10-10T10:15:00Z', deleted: '2026-10-10T13:15:00Z' })
  const anew = await have({ name: 'anew', first: '2026-10-10T11:15:00Z' })
  const young = await have({ name: 'young', first: '2026-11-10T08:15:00Z' })
  await have({ name: 'heir', last: '2026-09-05T10:15:00Z', deleted: '2026-09-05T13:15:00Z' })
  await have({ name: 'heir', first: '2026-11-10T08:15:00Z' })
  const ip = await have({ name: '1.1.1.1', kind: 'reserved_ip' })
  const expected: [Row, string | null][] = [
    [line('wEB-01'), web],
    [line('web-01', undefined, undefined, { product: 'Backups' }), null],
    [line('web-01', undefined, undefined, { product: 'Taxes' }), null],
    [line('web'), null],
    [line('twin'), null],
    [line('gone'), gone],
    [line('gone', '2026-10-10 14:00:00'), null],
    [line('long-gone'), null],
    // Last seen before the line began, given up for deleted after it had ended.
    [line('late', '2026-10-10 09:50:00', '2026-10-10 10:10:00'), late],
    // Deleted and made anew under its name: told apart, unless the line covers both.
    [line('anew', '2026-10-01 00:00:00', '2026-10-10 10:20:00'), old],
    [line('anew', '2026-10-10 10:30:00'), anew],
    [line('anew'), null],
    // The mirror is younger than the invoice: the only one there ever was is meant, one of two is not.
    [line('young'), young],
    [line('heir'), null],
    [row({ product: 'Floating IPs', description: 'Unused Floating IP - 1.1.1.1' }), ip],
    // Without times the whole month counts.
    [row({ description: 'Gone (x)', start: '', end: '' }), gone],
  ]
  const { lines } = await ingested(
    bundle,
    expected.map(([fields]) => fields),
  )
  assert.deepEqual(
    lines.map(({ description, start_at, resource_id }) => [description, start_at, resource_id]),
    lines.map(({ description, start_at }, index) => [description, start_at, expected[index]![1]]),
  )
  assert.deepEqual(
    lines.map(shown => shown.matched_by),
    expected.map(([, id]) => (id ? 'auto' : null)),
  )

  // What the inventory learns later is matched later, and only that.
  const found = await have({ name: 'web' })
  assert.equal(await rematchLines(bundle.ctx, jobPart().signal), 1)
  const again = await costLines(bundle, `resource_id=${found}`)
  assert.deepEqual(
    again.map(shown => [shown.description, shown.matched_by]),
    [['web (s-1vcpu-1gb)', 'auto']],
  )
})

test('deployment and tenant are those the resource had when the line ended', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const [acme, globex] = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const resource = (name: string, more: Partial<Lived> = {}) =>
    haveResource(bundle, { name, tenant: 'globex', deployment: globex.id, ...more })
  await resource('settled')
  const moved = await resource('moved')
  await changedHands(bundle, moved, '2026-10-15T00:00:00Z', { tenant_id: ['umbrella', 'acme'] })
  await changedHands(bundle, moved, '2026-11-03T00:00:00Z', {
    tenant_id: ['acme', 'umbrella'],
    deployment_id: [acme.id, null],
  })
  await changedHands(bundle, moved, '2026-11-04T00:00:00Z', {
    tenant_id: ['umbrella', 'globex'],
    deployment_id: [null, globex.id],
  })
  const given = await resource('given')
  await changedHands(bundle, given, '2026-11-03T00:00:00Z', { tenant_id: [null, 'globex'] })
  const young = await resource('young', { first: '2026-11-10T08:15:00Z' })
  await changedHands(bundle, young, '2026-11-10T08:16:00Z', { tenant_id: [null, 'acme'] })
  await changedHands(bundle, young, '2026-11-11T08:16:00Z', { tenant_id: ['acme', 'globex'] })
  const { lines } = await ingested(bundle, [
    line('settled'),
    line('moved'),
    line('moved', '2026-10-01 00:00:00', '2026-10-09 00:00:00'),
    line('given'),
    line('young'),
  ])
  assert.deepEqual(
    lines.map(({ tenant_id, deployment_id }) => [tenant_id, deployment_id]),
    [
      ['globex', globex.id],
      ['acme', acme.id],
      ['umbrella', acme.id],
      // It was nobody's then.
      [null, globex.id],
      // Nothing is known of a time before it was first seen: whose it was first, and for no deployment of another's.
      ['acme', null],
    ],
  )
})

test(
  'what an operator says a line is for stays said when the invoice is ingested again, until it is taken back',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call } = bundle
    const { id: deployment_id } = await deployment(bundle, 'acme')
    const resource_id = await haveResource(bundle, { name: 'db', tenant: 'globex' })
    await changedHands(bundle, resource_id, '2026-11-03T00:00:00Z', { tenant_id: ['initech', 'globex'] })
    const rows = [line('db'), line('same'), line('same'), line('same'), line('other')]
    const { invoice, lines } = await ingested(bundle, rows)
    const assign = (index: number, body: object) =>
      call('POST', `${base}/cost-lines/${lines[index]!.id}/assign`, { body })

    const toTenant = await assign(0, { tenant_id: 'umbrella' })
    assert.equal(toTenant.status, 200, toTenant.text)
    assert.deepEqual(
      [toTenant.body.data.resource_id, toTenant.body.data.tenant_id, toTenant.body.data.matched_by],
      [null, 'umbrella', 'hand'],
    )
    assert.equal((await assign(1, { deployment_id })).body.data.tenant_id, 'acme')
    const toResource = (await assign(3, { resource_id })).body.data
    assert.deepEqual([toResource.resource_id, toResource.tenant_id], [resource_id, 'initech'])
    const pushed = await invoiceOf(bundle, invoice)

    // Other amounts, another line between, another order of columns.
    const changed = rows.map(fields => ({ ...fields, USD: '$9.99', hours: '1' }))
    await ingest(bundle, invoice, csv([line('new'), ...changed], Object.keys(changed[0]!).toReversed()))
    const after = await costLines(bundle, `invoice_id=${invoice.id}`)
    const owners = after.map(shown => [
      shown.description.split(' ')[0],
      shown.matched_by,
      shown.resource_id,
      shown.deployment_id,
      shown.tenant_id,
    ])
    const expected = [
      ['new', null, null, null, null],
      ['db', 'hand', null, null, 'umbrella'],
      ['same', 'hand', null, deployment_id, 'acme'],
      ['same', null, null, null, null],
      ['same', 'hand', resource_id, null, 'initech'],
      ['other', null, null, null, null],
    ]
    assert.deepEqual(owners, expected)
    assert.equal(await rematchLines(bundle.ctx, jobPart().signal), 0)

    // Taken back, the line is matched by itself; what nobody assigned stays as it is.
    const back = await call('DELETE', `${base}/cost-lines/${after[1]!.id}/assign`)
    assert.deepEqual(
      [back.body.data.matched_by, back.body.data.resource_id, back.body.data.tenant_id],
      ['auto', resource_id, 'initech'],
    )
    await call('DELETE', `${base}/cost-lines/${after[2]!.id}/assign`)
    const untouched = await call('DELETE', `${base}/cost-lines/${after[0]!.id}/assign`)
    assert.equal(untouched.body.data.matched_by, null)
    await ingest(bundle, invoice, csv(rows))
    const last = await costLines(bundle, `invoice_id=${invoice.id}`)
    assert.deepEqual(
      last.map(shown => shown.matched_by),
      ['auto', null, null, 'hand', null],
    )
    assert.equal((await invoiceOf(bundle, invoice)).sha256, pushed.sha256)

    for (const [body, pointer] of [
      [{}, ''],
      [{ tenant_id: 'a', deployment_id }, ''],
      [{ resource_id: newId() }, '/resource_id'],
      [{ deployment_id: newId() }, '/deployment_id'],
      [{ tenant_id: '' }, '/tenant_id'],
      [{ tenant_id: null }, '/tenant_id'],
      [{ owner: 'a' }, '/owner'],
    ] as const) {
      const refused = await call('POST', `${base}/cost-lines/${last[0]!.id}/assign`, { body })
      assert.equal(refused.status, 422, refused.text)
      assert.equal(refused.body.errors[0].pointer, pointer)
    }
    assert.equal((await assign(0, { tenant_id: 'a' })).status, 404)
    assert.equal((await call('DELETE', `${base}/cost-lines/nonsense/assign`)).status, 404)
  },
)

test('lines are listed by month, kind and every other filter, page after page, with the contract’s fields', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const web = await haveResource(bundle, {
    name: 'web',
    tenant: 'acme',
    deployment: (await deployment(bundle)).id,
  })
  const october = await ingested(bundle, [
    line('web', undefined, undefined, { USD: '$1,234.56', group_description: 'pool', hours: '1,000.5' }),
    ...Array.from({ length: 6 }, (_, index) => line(`other-${index}`)),
    row({ product: 'Volumes', description: 'taxi (nyc3) 100GB', USD: '($5.00)' }),
    row({ product: 'Taxes', description: 'GST', USD: '$0.005', project_name: '', hours: '' }),
  ])
  const september = await ingested(
    bundle,
    [line('web', '2026-09-01 00:00:00', '2026-09-30 23:59:59')],
    '2026-09-01',
  )
  const [first, , , , , , , volume, tax] = october.lines
  assert.deepEqual(first, {
    id: first!.id,
    invoice_id: october.invoice.id,
    period: '2026-10-01',
    line_number: 2,
    product: 'Droplets',
    group_description: 'pool',
    description: 'web (s-1vcpu-1gb)',
    kind: 'droplet',
    resource_id: web,
    deployment_id: first!.deployment_id,
    tenant_id: 'acme',
    matched_by: 'auto',
    hours: '1000.5',
    start_at: '2026-10-01T00:00:00.000Z',
    end_at: '2026-10-31T23:59:59.000Z',
    amount: '1234.56',
    amount_minor: 123_456,
    currency: 'USD',
    project_name: 'acme',
    category: 'iaas',
    is_tax: false,
    tax_flagged: false,
    extra: {},
  })
  assert.deepEqual(
    [volume?.kind, volume?.amount, volume?.is_tax, volume?.tax_flagged],
    ['volume', '-5.00', true, true],
  )
  assert.deepEqual([tax?.kind, tax?.amount_minor, tax?.is_tax, tax?.tax_flagged], ['tax', 1, true, false])

  const count = async (query: string) => (await costLines(bundle, query)).length
  assert.equal(await count(''), 10)
  assert.equal(await count('period=2026-10-17'), 9)
  assert.equal(await count('period=2026-09-30'), 1)
  assert.equal(await count('period=2026-08-01'), 0)
  assert.equal(await count('kind=droplet'), 8)
  assert.equal(await count('period=2026-10-31&kind=droplet'), 7)
  assert.equal(await count('period=2026-10-31&kind=droplet&limit=3'), 3)
  assert.equal(await count(`invoice_id=${september.invoice.id}`), 1)
  assert.equal(await count(`resource_id=${web}`), 2)
  assert.equal(await count(`deployment_id=${first!.deployment_id}&period=2026-09-01`), 1)
  assert.equal(await count('tenant_id=acme'), 2)
  assert.equal(await count('matched=true'), 2)
  assert.equal(await count('matched=false'), 8)
  assert.equal(await count('matched=false&kind=tax&tenant_id=acme'), 0)

  for (const filter of ['', 'kind=droplet', 'period=2026-10-05', 'matched=false', 'tenant_id=acme']) {
    const all = (await costLines(bundle, filter)).map(({ id }) => id)
    const paged: string[] = []
    for (let path: string | undefined = `${base}/cost-lines?${filter}&limit=2`.replace('?&', '?'); path; ) {
      const answer = await call('GET', path)
      assert.equal(answer.status, 200, answer.text)
      paged.push(...answer.body.data.map(({ id }: { id: string }) => id))
      path = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    assert.deepEqual(paged, all, filter)
  }
  assert.equal((await costLines(bundle, ''))[0]?.period, '2026-09-01')
  // A cursor says where a page ended among all lines, also to a listing of another month.
  const cursor = async (filter: string) =>
    (await call('GET', `${base}/cost-lines?${filter}&limit=1`)).body.next_cursor
  assert.equal(await count(`period=2026-10-01&cursor=${await cursor('tenant_id=acme')}`), 9)
  assert.equal(await count(`period=2026-09-01&cursor=${await cursor('period=2026-10-01')}`), 0)

  const invoices = await call('GET', `${base}/invoices?limit=1`)
  assert.deepEqual(
    invoices.body.data.map(({ id }: { id: string }) => id),
    [october.invoice.id],
  )
  const next = await call('GET', /<([^>]+)>/.exec(invoices.headers.get('link') ?? '')![1]!)
  assert.deepEqual(
    next.body.data.map(({ id }: { id: string }) => id),
    [september.invoice.id],
  )
  for (const [query, found] of [
    ['period=2026-09-12', 1],
    ['ingest_status=ingested', 2],
    ['ingest_status=failed', 0],
  ] as const)
    assert.equal((await call('GET', `${base}/invoices?${query}`)).body.data.length, found, query)
})

test('the balance shown is the latest of all snapshots', async t => {
  const { ctx, call } = await setup(t)
  const at = (hour: number) => `2026-11-15T${String(hour).padStart(2, '0')}:07:00.000Z`
  for (const hour of [9, 11, 10]) {
    const money = {
      month_to_date_balance: `${hour}.00`,
      account_balance: '0.00',
      month_to_date_usage: '1.00',
    }
    const times = { generated_at: at(hour), recorded_at: at(hour) }
    await insertBalance(ctx.db, {
      id: newId(),
      provider: 'digitalocean',
      currency: 'USD',
      ...money,
      ...times,
    })
  }
  const { body } = await call('GET', `${base}/balance`)
  assert.deepEqual([body.data.month_to_date_balance, body.data.recorded_at], ['11.00', at(11)])
})

test('balances are listed as they were recorded, page by page, between days, and the last of each day', async t => {
  const { ctx, call } = await setup(t)
  const times = [
    '2026-11-13T23:59:59.999Z',
    '2026-11-14T00:00:00.000Z',
    '2026-11-14T10:07:00.000Z',
    '2026-11-15T00:00:00.000Z',
    '2026-11-15T11:07:00.000Z',
    '2026-11-15T11:07:00.000Z',
  ]
  for (const [n, recorded_at] of times.toReversed().entries())
    await insertBalance(ctx.db, {
      id: newId(),
      provider: 'digitalocean',
      currency: 'USD',
      month_to_date_balance: `${n}.50`,
      account_balance: '-3.00',
      month_to_date_usage: '0.10',
      generated_at: recorded_at,
      recorded_at,
    })
  const history = async (query: string) => {
    const found: { recorded_at: string; month_to_date_balance: string }[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body, text } = await call(
        'GET',
        `${base}/balance/history?${query}${cursor && `&cursor=${cursor}`}`,
      )
      assert.equal(status, 200, text)
      found.push(...body.data)
      cursor = body.next_cursor
    }
    return found
  }
  const recorded = async (query: string) => (await history(query)).map(({ recorded_at }) => recorded_at)
  assert.deepEqual(await recorded(''), times)
  assert.deepEqual(await recorded('limit=2'), times)
  assert.deepEqual(await recorded('from=2026-11-14&to=2026-11-14'), times.slice(1, 3))
  assert.deepEqual(await recorded('from=2026-11-15&to=9999-12-31'), times.slice(3))
  assert.deepEqual(await recorded('granularity=day&limit=1'), [times[0], times[2], times[5]])
  const [first] = await history('')
  assert.deepEqual(first, {
    provider: 'digitalocean',
    month_to_date_balance: '5.50',
    account_balance: '-3.00',
    month_to_date_usage: '0.10',
    currency: 'USD',
    generated_at: times[0],
    recorded_at: times[0],
  })
  for (const query of ['from=2026-02-30', 'to=x', 'granularity=month', 'cursor=x', 'since=2026-11-14'])
    assert.equal((await call('GET', `${base}/balance/history?${query}`)).status, 422, query)
})

test('bad dates and filters are 422, unknown invoices 404, and everything is for operators alone', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  for (const query of [
    'period=2026-02-30',
    'period=2026-13-01',
    'period=2026-02-29',
    'period=2026-10',
    'period=2026-1-1',
    'period=October',
    'period=',
    'matched=perhaps',
    'limit=0',
    'limit=501',
    'invoice_id=x',
    'month=2026-10-01',
    'cursor=x',
  ]) {
    assert.equal((await call('GET', `${base}/cost-lines?${query}`)).status, 422, query)
  }
  assert.equal((await call('GET', `${base}/cost-lines?period=2024-02-29`)).status, 200)
  assert.equal((await call('GET', `${base}/invoices?period=2026-02-30`)).status, 422)
  const unknown = newId()
  for (const [method, path] of [
    ['GET', `/invoices/${unknown}`],
    ['GET', '/invoices/x'],
    ['POST', `/invoices/${unknown}/ingest`],
    ['POST', `/cost-lines/${unknown}/assign`],
    ['DELETE', `/cost-lines/${unknown}/assign`],
  ] as const) {
    const body = path.endsWith('assign') && method === 'POST' ? { tenant_id: 'a' } : undefined
    assert.equal((await call(method, base + path, { body })).status, 404, path)
  }
  const invoice = await haveInvoice(bundle)
  assert.equal((await call('POST', `${base}/invoices/${invoice.id}/ingest`)).status, 202)
  const second = await call('POST', `${base}/invoices/${invoice.id}/ingest`)
  assert.deepEqual([second.status, second.body.code], [409, 'already_running'])
  const token = await bundle.tokens.tenant('acme')
  for (const [method, path] of [
    ['GET', '/balance'],
    ['GET', '/balance/history'],
    ['GET', '/costs'],
    ['GET', '/cost-lines'],
    ['GET', '/summary?period=2026-10-01'],
    ['GET', '/focus?period=2026-10-01'],
    ['GET', '/invoices'],
    ['GET', `/invoices/${invoice.id}`],
    ['GET', `/invoices/${invoice.id}/file`],
    ['POST', `/invoices/${invoice.id}/ingest`],
    ['POST', `/invoices/${invoice.id}/push`],
    ['POST', `/cost-lines/${unknown}/assign`],
    ['DELETE', `/cost-lines/${unknown}/assign`],
    ['GET', '/margins?period=2026-10'],
  ] as const) {
    const body = path.endsWith('assign') && method === 'POST' ? { tenant_id: 'acme' } : undefined
    assert.equal((await call(method, base + path, { token, body })).status, 403, path)
  }
})

test('an invoice that is shown as ingested can be fetched again, though its job is not settled yet', async t => {
  const bundle = await setup(t)
  const id = await haveIngested(bundle, [{ amount: '6.00' }])
  const fetch = () => bundle.call('POST', `${base}/invoices/${id}/ingest`)
  assert.equal((await fetch()).status, 202)
  settleAfterRefusal(bundle)
  assert.equal((await fetch()).status, 202)
})
