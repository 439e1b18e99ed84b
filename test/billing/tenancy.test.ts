// What a tenant reads of the provider's money: the lines that were its own, and nothing of anybody else.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { changedHands, haveIngested, haveResource, type Line } from '../support/billing.ts'
import { csvObjects } from '../support/csv.ts'
import { deployment } from '../support/factories.ts'
import { setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'

const billing = '/api/v1/billing'
const base = '/api/v1/costs'

/**
 * Two months of two tenants and of nobody. The droplet `roamer` was acme's while its line ran and is globex's now; `inherited`
 * was acme's, tied to a deployment of globex.
 */
async function haveMonths(t: TestContext) {
  const bundle = await setup(t)
  const { tokens } = bundle
  await haveProject(bundle, 'acme', 'acme', [['droplet', '1']])
  await haveProject(bundle, 'globex', 'globex', [['droplet', '2']])
  await see(bundle, 'droplet', [
    { provider_id: '1', name: 'own', tags: ['env:prod'] },
    { provider_id: '2', name: 'renamed-by-globex', tags: ['globex-secret'] },
  ])
  const [own, roamer] = [await rowOf(bundle, 'droplet', '1'), await rowOf(bundle, 'droplet', '2')]
  const [shop, theirs] = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const acme = { tenant_id: 'acme', project_name: 'globex-before', extra: { note: 'operators only' } }
  const line = (name: string, amount: string, more: Partial<Line> = {}): Line => ({
    description: `${name} (s-1vcpu-1gb)`,
    amount,
    matched_by: 'auto',
    ...more,
  })
  const lines = [
    line('own', '6.00', { ...acme, resource_id: own.id, deployment_id: shop.id }),
    line('roamer', '3.00', { ...acme, resource_id: roamer.id }),
    line('inherited', '1.00', { ...acme, kind: 'volume', deployment_id: theirs.id }),
    line('theirs', '40.00', { tenant_id: 'globex', deployment_id: theirs.id }),
    line('nobody', '5.00', { matched_by: null }),
    line('STATE SALES TAX', '0.98', { product: 'Taxes', kind: 'tax', matched_by: null }),
  ]
  const october = await haveIngested(bundle, lines)
  const september = await haveIngested(
    bundle,
    [line('own', '5.00', acme), line('theirs', '7.00', { tenant_id: 'globex' })],
    { period: '2026-09-01' },
  )
  const tokenOf = { acme: await tokens.tenant('acme'), globex: await tokens.tenant('globex') }
  const get = (path: string, tenant: keyof typeof tokenOf = 'acme', headers = {}) =>
    bundle.call('GET', base + path, { token: tokenOf[tenant], headers })
  return { ...bundle, get, october, september, shop, theirs, own, roamer }
}

const names = (answer: { status: number; text: string; body: { data: { description: string }[] } }) => {
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data.map(({ description }) => description.split(' ')[0])
}

const FOREIGN = /theirs|nobody|TAX|globex|operators only/

test('a tenant lists the lines that were its own, by every filter and page by page, and no other’s', async t => {
  const { call, tokens, get, october, september, shop, theirs, roamer } = await haveMonths(t)
  const all = await get('/lines')
  assert.deepEqual(names(all), ['own', 'own', 'roamer', 'inherited'])
  assert.doesNotMatch(all.text, FOREIGN)
  assert.ok(!all.text.includes(theirs.id))
  const [line] = all.body.data.slice(1)
  assert.deepEqual(
    [line.tenant_id, line.deployment_id, line.project_name, line.extra],
    ['acme', shop.id, null, {}],
  )
  const operators = (await call('GET', `${billing}/cost-lines?invoice_id=${october}`)).body.data[0]
  assert.deepEqual(line, { ...operators, project_name: null, extra: {} })
  assert.deepEqual([operators.project_name, operators.extra.note], ['globex-before', 'operators only'])

  const by = async (query: string) => names(await get(`/lines?${query}`))
  assert.deepEqual(await by('tenant_id=acme&period=2026-10-15'), ['own', 'roamer', 'inherited'])
  assert.deepEqual(await by(`invoice_id=${october}`), ['own', 'roamer', 'inherited'])
  assert.deepEqual(await by(`invoice_id=${september}`), ['own'])
  assert.deepEqual(await by(`invoice_id=${september}&period=2026-10-01`), [])
  assert.deepEqual(await by(`invoice_id=${newId()}`), [])
  assert.deepEqual(await by(`resource_id=${roamer.id}`), ['roamer'])
  assert.deepEqual(await by(`deployment_id=${shop.id}`), ['own'])
  assert.deepEqual(await by(`deployment_id=${theirs.id}`), [], 'whatever is tied to it')
  assert.deepEqual(await by('kind=volume'), ['inherited'])
  assert.deepEqual(await by('matched=false'), [])
  for (const query of ['', `&invoice_id=${october}`]) {
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await get(`/lines?limit=1${query}${cursor && `&cursor=${cursor}`}`)
      paged.push(...(names(page) as string[]))
      cursor = page.body.next_cursor
    }
    assert.deepEqual(paged, query ? ['own', 'roamer', 'inherited'] : ['own', 'own', 'roamer', 'inherited'])
  }
  assert.deepEqual(names(await get('/lines', 'globex')), ['theirs', 'theirs'])
  for (const accept of ['application/json', 'text/csv'])
    assert.equal((await get('/lines?tenant_id=globex', 'acme', { accept })).status, 403)
  const token = await tokens.tenant('acme')
  for (const path of ['cost-lines', 'costs', 'summary?period=2026-10-01', 'focus?period=2026-10-01'])
    assert.equal((await call('GET', `${billing}/${path}`, { token })).status, 403, path)
})

test('a tenant downloads its lines as CSV and as FOCUS, without what its former resources have become', async t => {
  const { get, own, october, theirs } = await haveMonths(t)
  const csv = await get(`/lines?invoice_id=${october}`, 'acme', { accept: 'text/csv' })
  const focus = await get('/focus?period=2026-10-01')
  for (const { status, text } of [csv, focus]) {
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, FOREIGN)
    assert.ok(!text.includes(theirs.id))
  }
  assert.deepEqual(
    csvObjects(csv.text).map(row => [row.amount, row.tenant_id, row.project_name, row.extra]),
    [
      ['6.00', 'acme', '', ''],
      ['3.00', 'acme', '', ''],
      ['1.00', 'acme', '', ''],
    ],
  )
  assert.deepEqual(
    csvObjects(focus.text).map(row => [row.BilledCost, row.SubAccountId, row.ResourceId, row.ResourceName]),
    [
      ['6.00', 'acme', `do:droplet:${own.provider_id}`, 'own'],
      ['3.00', 'acme', '', ''],
      ['1.00', 'acme', '', ''],
    ],
  )
  assert.deepEqual(
    csvObjects((await get('/focus?period=2026-10-01', 'globex')).text).map(row => row.BilledCost),
    ['40.00'],
  )
})

test('an export names a resource as it was when its line ended, and to a tenant as it is where it was another’s then', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const [renamed, inherited] = [
    await haveResource(bundle, { name: 'after', tenant: 'acme' }),
    await haveResource(bundle, { name: 'now', tenant: 'acme' }),
  ]
  const at = '2026-11-05T00:00:00Z'
  await changedHands(bundle, renamed, at, { name: ['before', 'after'] })
  await changedHands(bundle, inherited, at, { tenant_id: ['globex', 'acme'], name: ['globex-plans', 'now'] })
  const line = { tenant_id: 'acme', matched_by: 'hand' as const, amount: '1.00' }
  await haveIngested(bundle, [
    { ...line, resource_id: renamed },
    { ...line, resource_id: inherited },
  ])
  // A line of a time before the resources were known: as they were first.
  await haveIngested(bundle, [{ ...line, resource_id: renamed }], { period: '2025-10-01' })
  const named = async (path: string, token?: string) => {
    const { text } = await call('GET', path, { token })
    return csvObjects(text).map(row => row.ResourceName)
  }
  const october = 'focus?period=2026-10-01'
  assert.deepEqual(await named(`${billing}/${october}`), ['before', 'globex-plans'])
  assert.deepEqual(await named(`${base}/${october}`, await tokens.tenant('acme')), ['before', 'now'])
  assert.deepEqual(await named(`${billing}/focus?period=2025-10-01`), ['before'])
})

test('a tenant’s month is added up from its own lines alone', async t => {
  const { get, shop } = await haveMonths(t)
  const answer = await get('/summary?period=2026-10-01')
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(answer.text, FOREIGN)
  const sums = (lines: number, amount: number) => ({
    lines,
    amount: amount.toFixed(2),
    amount_minor: amount * 100,
    net_minor: amount * 100,
    tax_minor: 0,
  })
  assert.deepEqual(answer.body.data, {
    period: '2026-10-01',
    currencies: [
      {
        currency: 'USD',
        ...sums(3, 10),
        unmatched: { ...sums(0, 0), amount: '0' },
        by_kind: [
          { kind: 'droplet', ...sums(2, 9) },
          { kind: 'volume', ...sums(1, 1) },
        ],
        by_tenant: [{ tenant_id: 'acme', ...sums(3, 10) }],
        by_deployment: [
          { deployment_id: shop.id, ...sums(1, 6) },
          { deployment_id: null, ...sums(2, 4) },
        ],
        by_project: [{ project_name: null, ...sums(3, 10) }],
        others: { by_kind: null, by_tenant: null, by_deployment: null, by_project: null },
      },
    ],
  })
  assert.deepEqual((await get('/summary?period=2026-08-01')).body.data.currencies, [])
})

test('a tenant’s costs over time are those of its own lines, and its deployments are its own', async t => {
  const { get, shop, theirs } = await haveMonths(t)
  const rows = async (query: string) => {
    const answer = await get(`?from=2026-09-01&to=2026-10-01&${query}`)
    assert.equal(answer.status, 200, answer.text)
    assert.doesNotMatch(answer.text, FOREIGN)
    assert.ok(!answer.text.includes(theirs.id))
    type Row = Record<'period' | 'currency' | 'lines' | 'amount' | 'amount_minor' | 'estimate', string>
    return (answer.body.data as Row[]).map(
      ({ period, currency, lines, amount, amount_minor, estimate, ...row }) => [
        period.slice(5, 7),
        amount,
        row,
      ],
    )
  }
  const [net_minor, tax_minor] = [1000, 0]
  assert.deepEqual(await rows('group_by=tenant'), [
    ['09', '5.00', { tenant_id: 'acme', net_minor: 500, tax_minor }],
    ['10', '10.00', { tenant_id: 'acme', net_minor, tax_minor }],
  ])
  assert.deepEqual(await rows('group_by=deployment'), [
    ['09', '5.00', { deployment_id: null, net_minor: 500, tax_minor }],
    ['10', '4.00', { deployment_id: null, net_minor: 400, tax_minor }],
    ['10', '6.00', { deployment_id: shop.id, net_minor: 600, tax_minor }],
  ])
  assert.deepEqual(await rows('group_by=project'), [
    ['09', '5.00', { project_name: null, net_minor: 500, tax_minor }],
    ['10', '10.00', { project_name: null, net_minor, tax_minor }],
  ])
  assert.deepEqual(await rows(`deployment_id=${shop.id}`), [['10', '6.00', { net_minor: 600, tax_minor }]])
  assert.deepEqual(await rows(`deployment_id=${theirs.id}`), [], 'whatever is tied to it')
  for (const accept of ['application/json', 'text/csv'])
    assert.equal((await get('?tenant_id=globex', 'acme', { accept })).status, 403)
  const csv = await get('?from=2026-10-01&to=2026-10-01&group_by=kind', 'acme', { accept: 'text/csv' })
  assert.deepEqual(
    csvObjects(csv.text).map(row => [row.kind, row.amount]),
    [
      ['droplet', '9.00'],
      ['volume', '1.00'],
    ],
  )
})
