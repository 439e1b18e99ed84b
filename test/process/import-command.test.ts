// Moving customers in from a file: what is read of it, what it makes, and that it makes nothing twice.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type Customer,
  describeWork,
  isNothing,
  readCustomerFile,
  type Work,
  workFor,
} from '../../src/cli/customer-file.ts'
import { seedExampleCatalog } from '../../src/features/catalog/index.ts'
import { commandLine } from '../support/command-line.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

const root = join(import.meta.dirname, '../..')

test('a file of customers is read by its header, in any order of columns, and a bad line is named alone', () => {
  const text = `\uFEFFSlug,Tenant ID,plan,addons,created-at,effective_from
shop,acme,starter,"extra-droplet; seat-pack:2",2026-10-01,2026-10-15

www,"globex",,,,
"two
lines",acme,,,,
,acme,,,,
x,,,,,
y,acme,,seat-pack,,
z,acme,,,,2026-10-01
a,acme,starter,seat-pack:0,,
b,acme,starter,seat-pack:1:2,,
c,acme,starter,seat-pack seat-pack:3,,
d,acme,starter,,2026-10-02,2026-10-01
e,acme,starter,,2026-10-01,2026-10-01
shop,acme,,,,
f,acme,starter,,,,more
`
  assert.deepEqual(readCustomerFile(text), {
    customers: [
      {
        ...{ line: 2, tenant_id: 'acme', slug: 'shop', fields: { created_at: '2026-10-01' } },
        subscription: {
          plan_code: 'starter',
          addons: [
            { code: 'extra-droplet', quantity: 1 },
            { code: 'seat-pack', quantity: 2 },
          ],
          effective_from: '2026-10-15',
        },
      },
      { line: 4, tenant_id: 'globex', slug: 'www', fields: {} },
      { line: 6, tenant_id: 'acme', slug: 'two\nlines', fields: {} },
      {
        ...{ line: 15, tenant_id: 'acme', slug: 'e', fields: { created_at: '2026-10-01' } },
        subscription: { plan_code: 'starter', addons: [], effective_from: '2026-10-01' },
      },
    ],
    faults: [
      { line: 7, name: 'acme/?', message: 'has no slug' },
      { line: 8, name: '?/x', message: 'has no tenant_id' },
      { line: 9, name: 'acme/y', message: 'has addons and no plan' },
      { line: 10, name: 'acme/z', message: 'has effective_from and no plan' },
      {
        ...{ line: 11, name: 'acme/a' },
        message: 'the addon seat-pack:0 is not written as code or code:quantity',
      },
      {
        ...{ line: 12, name: 'acme/b' },
        message: 'the addon seat-pack:1:2 is not written as code or code:quantity',
      },
      { line: 13, name: 'acme/c', message: 'the addon seat-pack is there twice' },
      {
        ...{ line: 14, name: 'acme/d' },
        message: 'effective_from 2026-10-01 is before created_at 2026-10-02',
      },
      { line: 16, name: 'acme/shop', message: 'is in line 2 already' },
      { line: 17, name: 'acme/f', message: 'has 7 fields where the header has 6' },
    ],
  })
})

test('a header that is not one of a customer file, or a file that is no CSV, is refused as a whole', () => {
  for (const [text, message] of [
    ['', /empty/],
    ['\n\n', /empty/],
    ['tenant_id,slug,colour\n', /no column colour: tenant_id, slug/],
    ['tenant_id,slug,\n', /no column \(without a name\)/],
    ['tenant_id,plan\n', /column slug is missing/],
    ['slug\n', /column tenant_id is missing/],
    ['tenant_id,slug,slug\n', /twice/],
    ['tenant_id,slug\n"acme,shop\n', /quote/i],
  ] as const)
    assert.throws(() => readCustomerFile(text), message, text)
})

test('what is to be done for a customer follows from what is there, and nothing that is there is changed', () => {
  const offer = { plans: new Set(['starter']), addons: new Set(['seat-pack']) }
  const bare: Customer = { line: 2, tenant_id: 'acme', slug: 'shop', fields: {} }
  const subscription = {
    plan_code: 'starter',
    addons: [{ code: 'seat-pack', quantity: 2 }],
    effective_from: '2026-10-15',
  }
  const sold: Customer = { ...bare, fields: { created_at: '2026-10-01' }, subscription }
  const told = (customer: Customer, standing?: { id: string; plan: string | null }) => {
    const work = workFor(customer, standing, offer)
    return typeof work === 'string' ? work : [describeWork(work), isNothing(work)]
  }
  assert.deepEqual(told(bare), ['deployment', false])
  assert.deepEqual(told(bare, { id: 'd', plan: null }), ['there already', true])
  assert.deepEqual(told(sold), [
    'deployment since 2026-10-01, starter + 2 × seat-pack since 2026-10-15',
    false,
  ])
  assert.deepEqual(told(sold, { id: 'd', plan: null }), ['starter + 2 × seat-pack since 2026-10-15', false])
  assert.deepEqual(told(sold, { id: 'd', plan: 'starter' }), ['there already', true])
  assert.deepEqual(told(sold, { id: 'd', plan: 'growth' }), [
    'there already, on growth, not starter: it is left as it is',
    true,
  ])
  assert.equal(
    told({ ...sold, subscription: { ...subscription, plan_code: 'gold' } }),
    'there is no plan gold with an active version',
  )
  const once = { ...subscription, addons: [{ code: 'disk', quantity: 1 }] }
  assert.equal(told({ ...sold, subscription: once }), 'there is no addon disk')
  const plain: Work = {
    customer: { ...bare, subscription: { plan_code: 'starter', addons: [{ code: 'disk', quantity: 1 }] } },
    ...{ deployment: 'make', subscribe: true },
  }
  assert.equal(describeWork(plain), 'deployment, starter + disk')
})

test(
  'import shows what it would do, does it line by line with its dates, goes on where it was, and makes nothing twice',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { call, clock } = bundle
    clock.set('2026-11-16T12:00:00Z')
    assert.equal(await seedExampleCatalog(bundle.ctx), true)
    const { run, write } = await commandLine(t, bundle, 'import')
    const lines = [
      'tenant_id,slug,display_name,created_at,plan,addons,effective_from',
      'acme,shop,The shop,2026-11-02,starter,extra-droplet;seat-pack:2,2026-11-05T12:00:00Z',
      'acme,bad,,2026-11-02,gold,,',
      'globex,www,,,,,',
      'globex,My shop,,,,,',
      'acme,later,,2026-11-02,starter,,next_period',
    ]
    const file = write('customers.csv', lines.join('\n'))
    const deployments = async () => (await call('GET', '/api/v1/deployments')).body.data

    const dry = await run([file, '--dry-run'])
    assert.deepEqual(
      [dry.code, dry.out.split('\n')],
      [
        1,
        [
          '+ line 2  acme/shop  deployment since 2026-11-02, starter + extra-droplet + 2 × seat-pack since 2026-11-05T12:00:00Z',
          '! line 3  acme/bad  there is no plan gold with an active version',
          '+ line 4  globex/www  deployment',
          '+ line 5  globex/My shop  deployment',
          '+ line 6  acme/later  deployment since 2026-11-02, starter since next_period',
          '4 to make. Nothing was changed: this was a dry run; 0 there already; 1 failed.',
          '',
        ],
      ],
    )
    assert.deepEqual(await deployments(), [])

    const made = await run([file])
    assert.equal(made.code, 1)
    assert.match(made.out, /^! line 5 {2}globex\/My shop {2}422 validation_failed: .*\n {2}- \/slug /m)
    assert.match(made.out, /^3 made; 0 there already; 2 failed\.$/m)
    assert.match(made.err, /import the file again/)
    const shown = (await deployments()).map((each: Record<string, string>) => [
      ...[each.tenant_id, each.slug, each.display_name, each.created_at],
    ])
    assert.deepEqual(shown.sort(), [
      ['acme', 'later', 'later', '2026-11-02T00:00:00.000Z'],
      ['acme', 'shop', 'The shop', '2026-11-02T00:00:00.000Z'],
      ['globex', 'www', 'www', '2026-11-16T12:00:00.000Z'],
    ])
    const shop = (await deployments()).find(({ slug }: { slug: string }) => slug === 'shop')
    const { subscription } = (await call('GET', `/api/v1/deployments/${shop.id}`)).body.data
    assert.deepEqual(
      subscription.addons.map((addon: Record<string, unknown>) => [
        addon.code,
        addon.quantity,
        addon.valid_from,
      ]),
      [
        ['extra-droplet', 1, '2026-11-05T12:00:00.000Z'],
        ['seat-pack', 2, '2026-11-05T12:00:00.000Z'],
      ],
    )

    // Mended, a deployment that got no further than its creation, and read from standard input.
    await call('POST', '/api/v1/deployments', { body: { tenant_id: 'acme', slug: 'bad' } })
    const mended = lines.join('\n').replace('gold', 'growth').replace('My shop', 'my-shop')
    const again = await run(['-'], { input: mended })
    assert.deepEqual(
      [again.code, again.err, again.out.split('\n').map(line => line.split('  ').slice(0, 3).join(' '))],
      [
        0,
        '',
        [
          '= line 2 acme/shop there already',
          '+ line 3 acme/bad growth',
          '= line 4 globex/www there already',
          '+ line 5 globex/my-shop deployment',
          '= line 6 acme/later there already',
          '2 made; 3 there already; 0 failed.',
          '',
        ],
      ],
    )
    const count = (await deployments()).length
    const third = await run(['-'], { input: mended })
    assert.match(third.out, /^0 made; 5 there already; 0 failed\.$/m)
    assert.equal((await deployments()).length, count)
  },
)

test(
  'import of the example file, of none, without a service, and by who may not',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    assert.equal(await seedExampleCatalog(bundle.ctx), true)
    const { run, write } = await commandLine(t, bundle, 'import')
    const example = await run([join(root, 'examples/customers.csv')])
    assert.deepEqual([example.code, example.err], [0, ''])
    assert.match(example.out, /^4 made; 0 there already; 0 failed\.$/m)
    assert.ok(readFileSync(join(root, 'examples/customers.csv'), 'utf8').startsWith('tenant_id,slug,'))

    for (const [args, code, message] of [
      [[], 2, /import takes a file/],
      [['a.csv', 'b.csv'], 2, /import takes a file/],
      [['missing.csv'], 1, /missing\.csv cannot be read/],
      [[write('odd.csv', 'name\n')], 1, /odd\.csv cannot be read: there is no column name/],
    ] as const) {
      const ended = await run([...args])
      assert.deepEqual([ended.code, ended.out], [code, ''], args.join(' '))
      assert.match(ended.err, message)
      assert.doesNotMatch(ended.err, /\n\s+at /, 'no stack')
    }
    const file = write('one.csv', 'tenant_id,slug,created_at\nglobex,shop,2026-11-02')
    const member = await bundle.tokens.tenant('acme')
    const refused = await run([file], { CLOUDOPS_TOKEN: member })
    assert.equal(refused.code, 1)
    assert.match(refused.out, /^! line 2 {2}globex\/shop {2}403 /m)
    assert.ok(!refused.out.includes(member) && !refused.err.includes(member))
    const away = await run([file], { CLOUDOPS_URL: 'http://127.0.0.1:9' })
    assert.equal(away.code, 1)
    assert.match(away.err, /No service answers/)
  },
)
