import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isDoubtfulTax, isTax } from '../../src/features/billing/cost-line.ts'
import { readAmount } from '../../src/features/billing/written-amount.ts'
import { costLines, haveIngested, haveInvoice, haveResource, ingest, type Line } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { meter, tied } from '../support/metering.ts'
import { type Bundle, setup } from '../support/setup.ts'

const margins = async ({ call }: Bundle, query = '') => {
  const { status, body, text } = await call('GET', `/api/v1/billing/margins?${query}`)
  assert.equal(status, 200, text)
  return body
}

const subscribe = async ({ call }: Bundle, id: string, plan_code: string) => {
  const { status, text } = await call('POST', `/api/v1/deployments/${id}/subscribe`, { body: { plan_code } })
  assert.equal(status, 201, text)
}

const usd = (amount: string, amount_minor = Math.round(Number(amount) * 100), more: object = {}) => ({
  currency: 'USD',
  amount,
  amount_minor,
  tax_minor: 0,
  flagged_lines: 0,
  ...more,
})
const charged = (amount_minor: number, currency = 'USD') => ({ currency, amount_minor })

test('margins: what a deployment and a tenant are charged, what the provider’s lines cost, and the rest', async t => {
  const bundle = await setup(t)
  const { clock, call } = bundle
  clock.set('2026-10-01T00:00:00Z')
  const [shop, blog, wiki] = [
    await deployment(bundle, 'acme'),
    await deployment(bundle, 'acme'),
    await deployment(bundle, 'globex'),
  ]
  const items = [{ resource_kind: 'volume', included_qty: 0, overage_unit: 'hour', overage_price_cents: 25 }]
  await subscribe(bundle, shop.id, await plan(bundle, { price: 800, items }))
  await subscribe(bundle, blog.id, await plan(bundle, { price: 2000, currency: 'EUR' }))
  await tied(bundle, '2026-10-31T20:00:00Z', 'volume', 'disk', shop.id)
  clock.set('2026-11-01T00:05:00Z')
  await meter(bundle)
  const late = await deployment(bundle, 'initech')
  await haveResource(bundle, { name: 'shop', deployment: shop.id, tenant: 'acme' })
  await haveResource(bundle, { name: 'blog', deployment: blog.id, tenant: 'acme' })
  await haveResource(bundle, { name: 'wiki', deployment: wiki.id, tenant: 'globex' })
  await haveResource(bundle, { name: 'taxi', deployment: wiki.id, tenant: 'globex' })
  await haveResource(bundle, { name: 'late', deployment: late.id, tenant: 'initech' })
  const lines = [
    row({ description: 'shop (x)', USD: '$3.005' }),
    row({ description: 'shop (x)', USD: '$1.00' }),
    row({ description: 'blog (x)', USD: '$2.50' }),
    row({ description: 'wiki (x)', USD: '$4.00' }),
    // Tax by the rule of the split, a droplet by its product.
    row({ description: 'taxi (x)', USD: '$0.60' }),
    row({ description: 'late (x)', USD: '$1.50' }),
    row({ description: 'nobody (x)', USD: '$5.25' }),
    row({ description: 'initrode (x)', USD: '$0.75' }),
    row({ product: 'Taxes', description: 'STATE SALES TAX (6.25%)', USD: '$9.99' }),
  ]
  const invoice = await haveInvoice(bundle, { amount: '28.595' })
  assert.equal(await ingest(bundle, invoice, csv(lines)), 'ingested')
  const line = (await costLines(bundle, 'matched=false')).find(other =>
    other.description.startsWith('initrode'),
  )!
  const assigned = await call('POST', `/api/v1/billing/cost-lines/${line.id}/assign`, {
    body: { tenant_id: 'initrode' },
  })
  assert.equal(assigned.status, 200, assigned.text)

  const rows = [
    {
      tenant_id: 'acme',
      deployment_id: shop.id,
      slug: shop.slug,
      deployments: 1,
      // Four hours of a volume beside the base price.
      charged: [charged(900)],
      costs: [usd('4.005', 401)],
      margin: { currency: 'USD', amount_minor: 499, percent: '55.44' },
    },
    {
      tenant_id: 'acme',
      deployment_id: blog.id,
      slug: blog.slug,
      deployments: 1,
      charged: [charged(2000, 'EUR')],
      costs: [usd('2.50')],
      margin: null,
    },
    {
      tenant_id: 'globex',
      deployment_id: wiki.id,
      slug: wiki.slug,
      deployments: 1,
      charged: [charged(0)],
      costs: [usd('4.60', 460, { tax_minor: 60, flagged_lines: 1 })],
      margin: { currency: 'USD', amount_minor: -460, percent: null },
    },
    {
      tenant_id: 'initech',
      deployment_id: late.id,
      slug: late.slug,
      deployments: 1,
      charged: [charged(0)],
      // Younger than the month, and yet its line is known by its name.
      costs: [usd('1.50')],
      margin: { currency: 'USD', amount_minor: -150, percent: null },
    },
  ]
  const taxes = { tax_minor: 999 }
  const unassigned = [usd('15.99', 1599, taxes)]
  const whole = { data: rows, next_cursor: null, period: '2026-10', unassigned }
  assert.deepEqual(await margins(bundle, 'period=2026-10'), whole)

  const first = await margins(bundle, 'period=2026-10&limit=2')
  assert.deepEqual([first.data, first.unassigned], [rows.slice(0, 2), unassigned])
  const second = await margins(bundle, `period=2026-10&limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual([second.data, second.next_cursor, second.unassigned], [rows.slice(2), null, null])
  const one = await margins(bundle, `period=2026-10&deployment_id=${wiki.id}`)
  assert.deepEqual([one.data, one.unassigned], [[rows[2]], null])
  const acme = await margins(bundle, 'period=2026-10&tenant_id=acme')
  assert.deepEqual([acme.data, acme.unassigned], [rows.slice(0, 2), []])

  const nobody = { deployment_id: null, slug: null }
  const tenants = [
    {
      ...nobody,
      tenant_id: 'acme',
      deployments: 2,
      charged: [charged(2000, 'EUR'), charged(900)],
      costs: [usd('6.505', 651)],
      margin: null,
    },
    { ...rows[2], ...nobody },
    { ...rows[3], ...nobody },
    {
      ...nobody,
      tenant_id: 'initrode',
      deployments: 0,
      charged: [],
      costs: [usd('0.75')],
      margin: { currency: 'USD', amount_minor: -75, percent: null },
    },
  ]
  const byTenant = await margins(bundle, 'period=2026-10&by=tenant')
  assert.deepEqual(byTenant, { ...whole, data: tenants, unassigned: [usd('15.24', 1524, taxes)] })
  const pages = await margins(bundle, 'period=2026-10&by=tenant&limit=1')
  const further = await margins(bundle, `period=2026-10&by=tenant&limit=1&cursor=${pages.next_cursor}`)
  assert.deepEqual([...pages.data, ...further.data], tenants.slice(0, 2))
  const named = await margins(bundle, 'period=2026-10&by=tenant&tenant_id=initrode')
  assert.deepEqual([named.data, named.unassigned], [tenants.slice(3), null])

  // The current month has no lines yet: what is charged is all there is.
  const [, , , newest] = (await margins(bundle)).data
  assert.deepEqual([newest.deployment_id, newest.charged, newest.costs], [late.id, [charged(0)], []])
  assert.deepEqual(newest.margin, { currency: 'USD', amount_minor: 0, percent: null })
})

test('by tenant, a month has the tenants with deployments and those with lines of that month, no other', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  for (const [period, tenant_id] of [
    ['2026-09-01', 'initrode'],
    ['2026-10-01', 'umbrella'],
  ] as const) {
    const invoice = await haveInvoice(bundle, { amount: '1.00', period })
    const file = csv([row({ description: `${tenant_id} (x)`, USD: '$1.00' })])
    assert.equal(await ingest(bundle, invoice, file), 'ingested')
    const [line] = await costLines(bundle, `invoice_id=${invoice.id}`)
    const { status, text } = await call('POST', `/api/v1/billing/cost-lines/${line!.id}/assign`, {
      body: { tenant_id },
    })
    assert.equal(status, 200, text)
  }
  await deployment(bundle, 'acme')
  const { data } = await margins(bundle, 'period=2026-10&by=tenant')
  const names = data.map(({ tenant_id }: { tenant_id: string }) => tenant_id)
  assert.deepEqual(names, ['acme', 'umbrella'])
})

test('margins are for a platform_admin, of months that have begun, and a deployment is not asked for among tenants', async t => {
  const { call, tokens } = await setup(t)
  const path = '/api/v1/billing/margins'
  assert.equal((await call('GET', path, { token: await tokens.tenant('acme') })).status, 403)
  const bad = ['period=2026-12', 'period=2026-10-01', 'by=kind', 'deployment_id=1', 'cursor=x']
  const both = 'by=tenant&deployment_id=01920000-0000-7000-8000-000000000000'
  for (const query of [...bad, both]) {
    const { status, body } = await call('GET', `${path}?${query}`)
    assert.deepEqual([status, body.errors.length], [422, 1], query)
  }
  assert.deepEqual((await call('GET', path)).body, {
    data: [],
    next_cursor: null,
    period: '2026-11',
    unassigned: [],
  })
})

interface Summed {
  currency: string
  amount: string
  amount_minor: number
}

/** Decimals as whole numbers of their last place. */
const PLACES = 6
const exact = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

/** By currency, what a list of costs or lines comes to: exactly, and in minor units. */
function added(parts: readonly Summed[]): Record<string, [bigint, bigint]> {
  const sums: Record<string, [bigint, bigint]> = {}
  for (const { currency, amount, amount_minor } of parts) {
    const [all, minor] = sums[currency] ?? [0n, 0n]
    sums[currency] = [all + exact(amount), minor + BigInt(amount_minor)]
  }
  return sums
}

test(
  'whatever the lines of a month are, every one is in one deployment, tenant or unassigned, and all sums are the invoices’',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call } = bundle
    const owners = [
      await deployment(bundle, 'acme'),
      await deployment(bundle, 'acme'),
      await deployment(bundle, 'globex'),
    ].map(({ id, tenant_id }): { id: string; tenant_id: string } => ({ id, tenant_id }))
    const tenants = ['acme', 'globex', 'initech', 'initrode']
    // Refunds, taxes by product or by name alone, fractions of a cent, lines whose tenant is not their deployment's.
    const line = fc.record({
      sign: fc.constantFrom('', '-'),
      whole: fc.oneof(fc.nat(99), fc.nat(10 ** 10)),
      fraction: fc.stringMatching(/^\d{0,6}$/),
      words: fc.constantFrom(
        ['Droplets', 'web (x)'],
        ['Droplets', 'taxi-api (x)'],
        ['Taxes', 'STATE SALES TAX (6.25%)'],
        ['Taxes', 'levy'],
        ['Credits', 'refund of gst'],
      ),
      kind: fc.constantFrom('droplet', 'tax', 'credit'),
      project_name: fc.constantFrom(null, 'acme', 'default'),
      deployment: fc.option(fc.nat(owners.length - 1)),
      tenant_id: fc.option(fc.constantFrom(...tenants)),
      matched_by: fc.constantFrom(null, 'auto' as const, 'hand' as const),
    })
    const book = fc.array(
      fc.record({
        currency: fc.constantFrom('USD', 'EUR', 'JPY'),
        lines: fc.array(line, { maxLength: 12 }),
      }),
      { minLength: 1, maxLength: 3 },
    )
    const all = async (query: string): Promise<{ data: { costs: Summed[] }[]; unassigned: Summed[] }> => {
      const first = await margins(bundle, `${query}&limit=2`)
      const pages = [first]
      while (pages.at(-1).next_cursor !== null)
        pages.push(await margins(bundle, `${query}&limit=2&cursor=${pages.at(-1).next_cursor}`))
      return { data: pages.flatMap(page => page.data), unassigned: first.unassigned }
    }
    let month = 0
    await fc.assert(
      fc.asyncProperty(book, async invoices => {
        // A month of its own for each book.
        const period = new Date(Date.UTC(2000, month++, 1)).toISOString().slice(0, 10)
        const lines: (Line & Summed)[] = []
        for (const { currency, lines: drawn } of invoices) {
          const rows = drawn.map(({ sign, whole, fraction, words, deployment: owner, ...rest }) => {
            const [product, description] = words as [string, string]
            const read = readAmount(`${sign}${whole}${fraction && `.${fraction}`}`, currency)!
            return {
              ...rest,
              product,
              description,
              currency,
              amount: read.amount,
              amount_minor: read.minor,
              is_tax: isTax(description),
              tax_flagged: isDoubtfulTax(description, product),
              deployment_id: owner === null ? null : owners[owner]!.id,
            }
          })
          await haveIngested(bundle, rows, { currency, period })
          lines.push(...rows)
        }
        const whole = added(lines)
        const query = `period=${period.slice(0, 7)}`

        const byDeployment = await all(query)
        const costs = byDeployment.data.map(row => row.costs)
        assert.deepEqual(added([...costs.flat(), ...byDeployment.unassigned]), whole, 'deployments')
        for (const [index, { id }] of owners.entries())
          assert.deepEqual(added(costs[index]!), added(lines.filter(each => each.deployment_id === id)))

        const byTenant = await all(`${query}&by=tenant`)
        assert.deepEqual(
          added([...byTenant.data.flatMap(row => row.costs), ...byTenant.unassigned]),
          whole,
          'tenants',
        )
        for (const { tenant_id, costs } of byTenant.data as { tenant_id: string; costs: Summed[] }[]) {
          const its = await margins(bundle, `${query}&tenant_id=${tenant_id}`)
          assert.deepEqual(
            added([...its.data.flatMap((row: { costs: Summed[] }) => row.costs), ...its.unassigned]),
            added(costs),
          )
        }

        const flagged = lines.filter(each => each.tax_flagged)
        const parts = [...costs.flat(), ...byDeployment.unassigned] as (Summed & {
          flagged_lines: number
          tax_minor: number
        })[]
        assert.equal(
          parts.reduce((sum, part) => sum + part.flagged_lines, 0),
          flagged.length,
        )
        assert.equal(
          parts.reduce((sum, part) => sum + BigInt(part.tax_minor), 0n),
          lines.reduce((sum, each) => sum + (each.is_tax ? BigInt(each.amount_minor) : 0n), 0n),
        )

        const { body } = await call('GET', `/api/v1/billing/summary?period=${period}`)
        const { currencies } = body.data
        assert.deepEqual(added(currencies), whole, 'summary')
        for (const { currency, net_minor, tax_minor, amount_minor, others, ...lists } of currencies) {
          assert.equal(BigInt(net_minor) + BigInt(tax_minor), BigInt(amount_minor))
          for (const list of ['by_kind', 'by_tenant', 'by_deployment', 'by_project']) {
            const shown = [...lists[list], ...(others[list] ? [others[list]] : [])]
            const named = shown.map((each: Summed) => ({ ...each, currency }))
            assert.deepEqual(added(named), { [currency]: whole[currency] }, list)
          }
        }
      }),
      { seed: 13, numRuns: 15 },
    )
  },
)
