import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { seedExampleCatalog } from '../../src/features/catalog/index.ts'
import { commandLine } from '../support/command-line.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const root = join(import.meta.dirname, '../..')
const example = join(root, 'examples/catalog.yaml')
const base = '/api/v1/catalog'

async function snapshot({ ctx }: Bundle) {
  const count = async (table: 'plans' | 'plan_versions' | 'addons' | 'resource_prices') =>
    (await ctx.db.selectFrom(table).select('id').execute()).length
  return {
    plans: await count('plans'),
    versions: await count('plan_versions'),
    addons: await count('addons'),
    prices: await count('resource_prices'),
  }
}

const afterExample = { plans: 3, versions: 3, addons: 5, prices: 9 }

test(
  'catalog apply shows the difference, makes it, and changes nothing when applied again',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { run: cloudops, write } = await commandLine(t, bundle, 'catalog')

    const dry = await cloudops(['apply', example, '--dry-run'])
    assert.equal(dry.code, 0, dry.err)
    assert.match(dry.out, /^\+ plan starter \(Starter\)$/m)
    assert.match(dry.out, /22 changes to make\. Nothing was changed: this was a dry run\./)
    assert.deepEqual(await snapshot(bundle), { plans: 0, versions: 0, addons: 0, prices: 0 })

    const applied = await cloudops(['apply', example])
    assert.equal(applied.code, 0, applied.err)
    assert.match(applied.out, /22 changes made\./)
    assert.deepEqual(await snapshot(bundle), afterExample)

    const again = await cloudops(['apply', example])
    assert.deepEqual(again, { code: 0, out: 'Nothing to change.\n', err: '' })
    assert.deepEqual(await snapshot(bundle), afterExample)

    const raised = readFileSync(example, 'utf8').replace('base_price_cents: 1900', 'base_price_cents: 2100')
    const change = await cloudops(['apply', write('raised.yaml', raised)])
    assert.equal(change.out, '~ version of starter: 1900 USD → 2100 USD\n1 change made.\n', change.err)
    const { body } = await bundle.call('GET', `${base}/plans/starter/versions`)
    const terms = body.data.map((row: { status: string; base_price_cents: number }) => [
      row.status,
      row.base_price_cents,
    ])
    assert.deepEqual(terms, [
      ['active', 2100],
      ['retired', 1900],
    ])
    assert.equal((await bundle.call('GET', `${base}/plans/growth`)).body.data.active_version.version, 1)
  },
)

test(
  'catalog export writes a file whose application changes nothing, also read from standard input',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { run: cloudops } = await commandLine(t, bundle, 'catalog')
    assert.equal(await seedExampleCatalog(bundle.ctx), true)
    await bundle.call('POST', `${base}/plans`, { body: { code: 'bare', name: 'No version: yet # really' } })
    await bundle.call('POST', `${base}/plans/starter/versions`, {
      body: { base_price_cents: 1, currency: 'USD' },
    })
    const exported = await cloudops(['export'])
    assert.equal(exported.code, 0, exported.err)
    assert.match(exported.out, /^ {2}- code: starter$/m)
    const before = await snapshot(bundle)
    const applied = await cloudops(['apply', '-'], { input: exported.out })
    assert.deepEqual(applied, { code: 0, out: 'Nothing to change.\n', err: '' })
    assert.deepEqual(await snapshot(bundle), before)
  },
)

test(
  'an interrupted apply is taken up again: a draft that says the same is published, not drafted twice',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { run: cloudops, write } = await commandLine(t, bundle, 'catalog')
    const version = {
      base_price_cents: 5,
      currency: 'USD',
      items: [{ resource_kind: 'seats', included_qty: 1 }],
    }
    await bundle.call('POST', `${base}/plans`, { body: { code: 'solo', name: 'Solo' } })
    await bundle.call('POST', `${base}/plans/solo/versions`, { body: version })
    const file = write('solo.json', JSON.stringify({ plans: [{ code: 'solo', name: 'Solo', version }] }))
    const applied = await cloudops(['apply', file])
    assert.equal(applied.code, 0, applied.err)
    assert.deepEqual(await snapshot(bundle), { plans: 1, versions: 1, addons: 0, prices: 0 })
    assert.equal((await bundle.call('GET', `${base}/plans/solo`)).body.data.active_version.version, 1)
  },
)

test(
  'catalog apply refuses a bad file, a price that cannot be, and a caller who may not, and says why',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { run: cloudops, write } = await commandLine(t, bundle, 'catalog')
    const bad = await cloudops([
      'apply',
      write('bad.yaml', 'plans:\n  - code: A b\n    name: x\nprices: []\n'),
    ])
    assert.equal(bad.code, 1)
    assert.match(
      bad.err,
      /^bad\.yaml is not a catalog:\n {2}- line 2: plans\[0\]\.code .+\n {2}- line 4: prices is not a known field\n$/,
    )
    assert.doesNotMatch(bad.err, /\n\s+at /)
    const missing = await cloudops(['apply', 'none.yaml'])
    assert.equal(missing.code, 1)
    assert.match(missing.err, /^none\.yaml cannot be read: ENOENT/)
    const tenant = await cloudops(['apply', example], { CLOUDOPS_TOKEN: await bundle.tokens.tenant('acme') })
    assert.equal(tenant.code, 1)
    assert.match(tenant.err, /^403 forbidden: /)
    await seedExampleCatalog(bundle.ctx)
    const dearer = readFileSync(example, 'utf8').replace('price_cents: 1800', 'price_cents: 1900')
    const refused = await cloudops(['apply', write('dearer.yaml', dearer)])
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^Nothing was changed:\n {2}- price load_balancer\/month USD from 2025-01-01 is 1800/,
    )
    for (const args of [['apply'], ['export', '--dry-run']]) {
      const wrong = await cloudops(args)
      assert.equal(wrong.code, 2, args.join(' '))
    }
  },
)

test(
  'catalog backtest shows each tenant before and after, and tells which plan the file does not have',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { clock, call } = bundle
    const { run: cloudops, write } = await commandLine(t, bundle, 'catalog')
    clock.set('2026-10-01T00:00:00Z')
    for (const [tenant, price] of [
      ['acme', 3000],
      ['globex', 500],
    ] as const) {
      const { id } = await deployment(bundle, tenant)
      const code = await plan(bundle, { code: `${tenant}-plan`, price })
      await call('POST', `/api/v1/deployments/${id}/subscribe`, { body: { plan_code: code } })
    }
    clock.set('2026-12-15T12:00:00Z')
    const version = { base_price_cents: 2905, currency: 'USD', items: [] }
    const draft = { plans: [{ code: 'acme-plan', name: 'Acme', version }] }
    const file = write('draft.json', JSON.stringify(draft))
    const CLOUDOPS_TOKEN = await bundle.tokens.admin()
    const run = (...args: string[]) => cloudops(['backtest', file, ...args], { CLOUDOPS_TOKEN })

    const shown = await run('--months', '6')
    assert.deepEqual(shown, {
      code: 0,
      out: [
        'TENANT  CURRENCY  BEFORE  AFTER  DIFFERENCE',
        'acme    USD       60.00   58.10  -1.90',
        'globex  USD       10.00   10.00  0.00',
        'all     USD       70.00   68.10  -1.90',
        'The plan globex-plan is not in the file: 1 subscription of it counted as it was.\n',
      ].join('\n'),
      err: '',
    })
    const csv = await run('--csv', '--months', '2')
    assert.deepEqual(csv.out.split('\r\n'), [
      'tenant_id,period,currency,before_cents,after_cents,difference_cents',
      'acme,2026-10,USD,3000,2905,-95',
      'acme,2026-11,USD,3000,2905,-95',
      'globex,2026-10,USD,500,500,0',
      'globex,2026-11,USD,500,500,0',
      '',
    ])
    const { tenants, months, kept } = JSON.parse((await run('--json')).out)
    assert.deepEqual(tenants[0], {
      ...{
        tenant_id: 'acme',
        currency: 'USD',
        before_cents: 6000,
        after_cents: 5810,
        difference_cents: -190,
      },
    })
    assert.equal(months.length, 4)
    assert.deepEqual(kept, [{ subject: 'plan', code: 'globex-plan', reason: 'missing', subscriptions: 1 }])
    for (const args of [['--months', '0'], ['--json', '--csv'], ['--dry-run']])
      assert.equal((await run(...args)).code, 2, args.join(' '))
    assert.equal((await cloudops(['export', '--json'])).code, 2)
  },
)

test(
  'the example catalog is put into an empty service once, whole and published, however many nodes start together',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const seeded = await Promise.all([1, 2, 3].map(() => seedExampleCatalog(bundle.ctx)))
    assert.deepEqual(seeded.toSorted(), [false, false, true])
    assert.deepEqual(await snapshot(bundle), afterExample)
    assert.equal(await seedExampleCatalog(bundle.ctx), false)
    const { body } = await bundle.call('GET', `${base}/plans`)
    assert.ok(
      body.data.every((plan: { active_version: { version: number } }) => plan.active_version.version === 1),
    )
    const next = await bundle.call('POST', `${base}/plans/starter/versions`, {
      body: { base_price_cents: 1, currency: 'USD' },
    })
    assert.equal(next.body.data.version, 2)
  },
)

test('a catalog that has anything in it is not seeded', onPostgresAlone, async t => {
  const bundle = await setup(t)
  const addon = { code: 'own', resource_kind: 'seats', qty: 1, price_cents: 1 }
  await bundle.call('POST', `${base}/addons`, { body: addon })
  assert.equal(await seedExampleCatalog(bundle.ctx), false)
  assert.deepEqual(await snapshot(bundle), { plans: 0, versions: 0, addons: 1, prices: 0 })
})
