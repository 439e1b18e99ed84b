import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Answer, type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/catalog'

const droplets = {
  resource_kind: 'droplet',
  included_qty: 2,
  overage_unit: 'hour',
  overage_price_cents: 3,
  hard_cap_qty: 10,
}
const terms = { base_price_cents: 4900, currency: 'USD', items: [droplets] }

async function made(answer: Promise<Answer>) {
  const { status, body, text } = await answer
  assert.equal(status, 201, text)
  return body.data
}

function assertRefused({ status, body, text }: Answer, expected: number, code: string): void {
  assert.equal(status, expected, text)
  assert.equal(body.code, code, text)
}

/** A plan `growth` with one version, published. */
async function publishedPlan({ call }: Bundle) {
  await made(call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } }))
  const draft = await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  const published = await call('POST', `${base}/plans/growth/versions/${draft.version}/publish`)
  assert.equal(published.status, 200, published.text)
  return published.body.data
}

test('a plan is created, drafted, published, and then shown to tenants with its active version and items', async t => {
  const bundle = await setup(t)
  const { call, tokens, clock } = bundle
  const created = await call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } })
  assert.equal(created.status, 201, created.text)
  assert.equal(created.headers.get('location'), `${base}/plans/growth`)
  assert.equal(created.body.data.active_version, null)
  assert.deepEqual((await call('GET', `${base}/plans/growth`)).body, created.body)

  const drafted = await call('POST', `${base}/plans/growth/versions`, { body: terms })
  assert.equal(drafted.status, 201, drafted.text)
  assert.equal(drafted.headers.get('location'), `${base}/plans/growth/versions/1`)
  assert.equal(drafted.body.data.status, 'draft')
  assert.equal(drafted.body.data.published_at, null)
  assert.deepEqual((await call('GET', `${base}/plans/growth/versions/1`)).body, drafted.body)

  const published = await call('POST', `${base}/plans/growth/versions/1/publish`)
  assert.equal(published.status, 200, published.text)
  const { body } = await call('GET', `${base}/plans`, { token: await tokens.tenant('acme') })
  assert.deepEqual(body, {
    data: [
      {
        id: created.body.data.id,
        code: 'growth',
        name: 'Growth',
        active_version: {
          id: drafted.body.data.id,
          version: 1,
          base_price_cents: 4900,
          currency: 'USD',
          status: 'active',
          published_at: clock.now().toISOString(),
          items: [droplets],
        },
      },
    ],
    next_cursor: null,
  })
})

test('publishing retires the version that was active, and leaves every other version alone', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const first = await publishedPlan(bundle)
  const second = await made(
    call('POST', `${base}/plans/growth/versions`, { body: { ...terms, base_price_cents: 5900 } }),
  )
  const third = await made(
    call('POST', `${base}/plans/growth/versions`, { body: { ...terms, currency: 'EUR', items: [] } }),
  )
  assert.equal((await call('GET', `${base}/plans/growth`)).body.data.active_version.version, 1)
  clock.advance(60_000)
  const { status, body } = await call('POST', `${base}/plans/growth/versions/2/publish`)
  assert.equal(status, 200)
  const now = clock.now().toISOString()
  assert.deepEqual(body.data, { ...second, status: 'active', published_at: now })
  const listed = await call('GET', `${base}/plans/growth/versions`)
  assert.deepEqual(listed.body.data, [third, body.data, { ...first, status: 'retired', retired_at: now }])
})

test('a publish that cannot be finished leaves the version that was active', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const first = await publishedPlan(bundle)
  const draft = await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  await sql`alter table plan_versions add constraint no_more check (status <> 'active') not valid`.execute(
    ctx.db,
  )
  const { status } = await call('POST', `${base}/plans/growth/versions/2/publish`)
  await sql`alter table plan_versions drop constraint no_more`.execute(ctx.db)
  assert.ok(status >= 400)
  const listed = await call('GET', `${base}/plans/growth/versions`)
  assert.deepEqual(listed.body.data, [draft, first])
})

test('an active version cannot be published again, nor a retired one: 409 says which', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  await publishedPlan(bundle)
  assertRefused(await call('POST', `${base}/plans/growth/versions/1/publish`), 409, 'already_active')
  await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  await call('POST', `${base}/plans/growth/versions/2/publish`)
  assertRefused(await call('POST', `${base}/plans/growth/versions/1/publish`), 409, 'version_retired')
  assert.equal((await call('GET', `${base}/plans/growth`)).body.data.active_version.version, 2)
})

test('a draft is replaced whole or deleted, and its number is not given again', async t => {
  const { call } = await setup(t)
  await made(call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } }))
  const draft = await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  const items = [
    { ...droplets, resource_kind: 'volume', hard_cap_qty: null },
    {
      resource_kind: 'seats',
      included_qty: 5,
      overage_unit: null,
      overage_price_cents: null,
      hard_cap_qty: 5,
    },
  ]
  const replaced = await call('PUT', `${base}/plans/growth/versions/1`, {
    body: { base_price_cents: 1, currency: 'EUR', items },
  })
  assert.equal(replaced.status, 200, replaced.text)
  assert.deepEqual(replaced.body.data, {
    ...draft,
    base_price_cents: 1,
    currency: 'EUR',
    items: items.toReversed(),
  })
  const deleted = await call('DELETE', `${base}/plans/growth/versions/1`)
  assert.equal(deleted.status, 204, deleted.text)
  assert.equal(deleted.text, '')
  assert.equal((await call('GET', `${base}/plans/growth/versions/1`)).status, 404)
  assert.equal((await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))).version, 2)
})

test('a published version can be neither replaced nor deleted: 409', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const published = await publishedPlan(bundle)
  const path = `${base}/plans/growth/versions/1`
  const changed = { ...terms, base_price_cents: 1 }
  assertRefused(await call('PUT', path, { body: changed }), 409, 'not_a_draft')
  assertRefused(await call('DELETE', path), 409, 'not_a_draft')
  await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  await call('POST', `${base}/plans/growth/versions/2/publish`)
  assertRefused(await call('PUT', path, { body: changed }), 409, 'not_a_draft')
  assertRefused(await call('DELETE', path), 409, 'not_a_draft')
  const { base_price_cents, items } = (await call('GET', path)).body.data
  assert.deepEqual(
    { base_price_cents, items },
    { base_price_cents: published.base_price_cents, items: [droplets] },
  )
})

test('the database itself refuses to change a published version or its items, and a second active one', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const { id } = await publishedPlan(bundle)
  const draft = await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  const refused = [
    sql`update plan_versions set base_price_cents = 1 where id = ${id}`,
    sql`update plan_versions set currency = 'EUR' where id = ${id}`,
    sql`update plan_versions set status = 'draft', published_at = null where id = ${id}`,
    sql`update plan_versions set status = 'retired', retired_at = now(), base_price_cents = 1 where id = ${id}`,
    sql`delete from plan_versions where id = ${id}`,
    sql`update plan_items set included_qty = 1 where plan_version_id = ${id}`,
    sql`delete from plan_items where plan_version_id = ${id}`,
    sql`update plan_items set plan_version_id = ${draft.id}, resource_kind = 'x' where plan_version_id = ${id}`,
    sql`update plan_items set plan_version_id = ${id}, resource_kind = 'x' where plan_version_id = ${draft.id}`,
    sql`insert into plan_items (plan_version_id, resource_kind, included_qty) values (${id}, 'volume', 1)`,
    sql`truncate plan_items`,
    sql`truncate plan_versions cascade`,
  ]
  for (const statement of refused) {
    await assert.rejects(statement.execute(ctx.db), { code: '55000' }, statement.compile(ctx.db).sql)
  }
  const second = sql`update plan_versions set status = 'active', published_at = now() where id = ${draft.id}`
  await assert.rejects(second.execute(ctx.db), { code: '23505', constraint: 'plan_versions_one_active' })
  const skipped = sql`update plan_versions set status = 'retired', published_at = now(), retired_at = now() where id = ${draft.id}`
  await assert.rejects(skipped.execute(ctx.db), { code: '55000' })
})

test('a code that is taken is a 409 that says of what', async t => {
  const { call } = await setup(t)
  const addon = { code: 'extra', resource_kind: 'droplet', qty: 1, price_cents: 600 }
  await made(call('POST', `${base}/plans`, { body: { code: 'extra', name: 'Extra' } }))
  await made(call('POST', `${base}/addons`, { body: addon }))
  const plan = await call('POST', `${base}/plans`, { body: { code: 'extra', name: 'Other' } })
  assertRefused(plan, 409, 'plan_code_taken')
  assertRefused(await call('POST', `${base}/addons`, { body: addon }), 409, 'addon_code_taken')
})

test('a plan is renamed, its code stays', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  await publishedPlan(bundle)
  const renamed = await call('PATCH', `${base}/plans/growth`, { body: { name: 'Growth Plus' } })
  assert.equal(renamed.status, 200)
  assert.equal(renamed.body.data.name, 'Growth Plus')
  assert.equal(renamed.body.data.active_version.version, 1)
  const recoded = await call('PATCH', `${base}/plans/growth`, { body: { code: 'plus' } })
  assertRefused(recoded, 422, 'validation_failed')
  assert.deepEqual(recoded.body.errors, [{ pointer: '/code', message: 'is not a known field' }])
})

test('items that contradict each other are refused, every fault with its pointer', async t => {
  const { call } = await setup(t)
  await made(call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } }))
  const items = [
    { resource_kind: 'droplet', included_qty: 5, hard_cap_qty: 4 },
    { resource_kind: 'volume', overage_unit: 'gb_month' },
    { resource_kind: 'database', overage_price_cents: 1 },
    { resource_kind: 'droplet' },
  ]
  const wrong = { base_price_cents: 0, currency: 'USD', items }
  const answer = await call('POST', `${base}/plans/growth/versions`, { body: wrong })
  assertRefused(answer, 422, 'validation_failed')
  assert.deepEqual(answer.body.errors, [
    { pointer: '/items/0/hard_cap_qty', message: 'must not be less than included_qty (5)' },
    { pointer: '/items/1/overage_price_cents', message: 'is required with overage_unit' },
    { pointer: '/items/2/overage_unit', message: 'is required with overage_price_cents' },
    { pointer: '/items/3/resource_kind', message: 'droplet has an item already' },
  ])
  const draft = await made(call('POST', `${base}/plans/growth/versions`, { body: terms }))
  assert.equal(draft.version, 1)
  const put = await call('PUT', `${base}/plans/growth/versions/1`, { body: wrong })
  assert.equal(put.body.errors.length, 4)
})

test('what is left out of an item is nothing included, no overage and no cap', async t => {
  const { call } = await setup(t)
  await made(call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } }))
  const body = { base_price_cents: 0, currency: 'USD', items: [{ resource_kind: 'seats' }] }
  const { items } = await made(call('POST', `${base}/plans/growth/versions`, { body }))
  assert.deepEqual(items, [
    {
      resource_kind: 'seats',
      included_qty: 0,
      overage_unit: null,
      overage_price_cents: null,
      hard_cap_qty: null,
    },
  ])
})

test('values that make no sense are 422 with a pointer', async t => {
  const { call } = await setup(t)
  await made(call('POST', `${base}/plans`, { body: { code: 'growth', name: 'Growth' } }))
  const item = (change: object) => ({ ...terms, items: [{ ...droplets, ...change }] })
  const addon = { code: 'a', resource_kind: 'droplet', qty: 1, price_cents: 1 }
  const price = {
    ...addon,
    code: undefined,
    qty: undefined,
    unit: 'hour',
    currency: 'USD',
    effective_from: '2026-01-01',
  }
  const cases: [string, object, string][] = [
    ...['', 'A', '-a', 'a-', 'a b', 'é', 'a'.repeat(65), '\u202e'].map(
      code => ['/plans', { code, name: 'x' }, '/code'] as [string, object, string],
    ),
    ...['', '   ', 'a\nb', '\u001b[31m', 'x'.repeat(201)].map(
      name => ['/plans', { code: 'x', name }, '/name'] as [string, object, string],
    ),
    ['/plans', { code: 'x' }, '/name'],
    ['/plans', { code: 1, name: 'x' }, '/code'],
    ['/plans', { code: 'x', name: null }, '/name'],
    ['/plans/growth/versions', { ...terms, base_price_cents: -1 }, '/base_price_cents'],
    ['/plans/growth/versions', { ...terms, base_price_cents: 1.5 }, '/base_price_cents'],
    ['/plans/growth/versions', { ...terms, base_price_cents: '1' }, '/base_price_cents'],
    ['/plans/growth/versions', { ...terms, base_price_cents: 2 ** 53 - 1 }, '/base_price_cents'],
    ['/plans/growth/versions', { ...terms, currency: 'usd' }, '/currency'],
    ['/plans/growth/versions', { ...terms, currency: 'USDT' }, '/currency'],
    ['/plans/growth/versions', { base_price_cents: 1 }, '/currency'],
    ['/plans/growth/versions', { ...terms, status: 'active' }, '/status'],
    ['/plans/growth/versions', item({ resource_kind: 'Droplet' }), '/items/0/resource_kind'],
    ['/plans/growth/versions', item({ included_qty: null }), '/items/0/included_qty'],
    ['/plans/growth/versions', item({ overage_unit: '' }), '/items/0/overage_unit'],
    ['/plans/growth/versions', item({ surprise: 1 }), '/items/0/surprise'],
    ['/plans/growth/versions', { ...terms, items: Array(101).fill(droplets) }, '/items'],
    ['/addons', { ...addon, qty: 0 }, '/qty'],
    ['/addons', { ...addon, price_cents: undefined }, '/price_cents'],
    ['/addons', { ...addon, currency: null }, '/currency'],
    ['/resource-prices', { ...price, effective_from: '2026-02-30' }, '/effective_from'],
    ['/resource-prices', { ...price, effective_from: '2026-1-1' }, '/effective_from'],
    ['/resource-prices', { ...price, effective_from: '0000-01-01' }, '/effective_from'],
    ['/resource-prices', { ...price, effective_from: '2026-01-01T00:00:00Z' }, '/effective_from'],
    ['/resource-prices', { ...price, effective_to: '2025-02-29' }, '/effective_to'],
    ['/resource-prices', { ...price, effective_to: '2026-01-01' }, '/effective_to'],
    ['/resource-prices', { ...price, effective_to: '2025-12-31' }, '/effective_to'],
    ['/resource-prices', { ...price, unit: 'per hour' }, '/unit'],
  ]
  for (const [path, body, pointer] of cases) {
    const answer = await call('POST', base + path, { body })
    assertRefused(answer, 422, 'validation_failed')
    const pointers = answer.body.errors.map((error: { pointer: string }) => error.pointer)
    assert.ok(pointers.includes(pointer), `${path} ${JSON.stringify(body)}: ${answer.text}`)
  }
  assert.equal((await call('GET', `${base}/plans/growth/versions`)).body.data.length, 0)
})

test('plans, versions, addons and prices that do not exist are 404, also where no number stands', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  await publishedPlan(bundle)
  const someId = '01980000-0000-7000-8000-000000000000'
  const paths: [string, string, object?][] = [
    ['GET', '/plans/none'],
    ['PATCH', '/plans/none', { name: 'x' }],
    ['GET', '/plans/none/versions'],
    ['POST', '/plans/none/versions', terms],
    ['GET', '/addons/none'],
    ['PATCH', '/addons/none', { qty: 1 }],
    ['PATCH', '/addons/none', {}],
    ['GET', `/resource-prices/${someId}`],
    ['PATCH', `/resource-prices/${someId}`, { effective_to: null }],
    ['GET', '/resource-prices/1'],
    ...[
      '2',
      '0',
      '-1',
      '1.0',
      '01',
      '1e0',
      '%201',
      'latest',
      '9999999999',
      '99999999999999999999',
      '1%00',
    ].flatMap(
      version =>
        [
          ['GET', `/plans/growth/versions/${version}`],
          ['PUT', `/plans/growth/versions/${version}`, terms],
          ['DELETE', `/plans/growth/versions/${version}`],
          ['POST', `/plans/growth/versions/${version}/publish`],
        ] as [string, string, object?][],
    ),
  ]
  for (const [method, path, body] of paths) {
    const answer = await call(method, base + path, { body })
    assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`)
    assert.equal(answer.body.code, 'not_found')
  }
})

test('an addon takes its code for a name and USD unless told otherwise, and changes by the field', async t => {
  const { call, clock, tokens } = await setup(t)
  const created = await call('POST', `${base}/addons`, {
    body: { code: 'extra-droplet', resource_kind: 'droplet', qty: 1, price_cents: 600 },
  })
  assert.equal(created.status, 201, created.text)
  assert.equal(created.headers.get('location'), `${base}/addons/extra-droplet`)
  const { data: addon } = created.body
  assert.equal(addon.name, 'extra-droplet')
  assert.equal(addon.currency, 'USD')
  clock.advance(1_000)
  const changed = await call('PATCH', `${base}/addons/extra-droplet`, { body: { price_cents: 700, qty: 2 } })
  assert.equal(changed.status, 200, changed.text)
  const expected = { ...addon, price_cents: 700, qty: 2, updated_at: clock.now().toISOString() }
  assert.deepEqual(changed.body.data, expected)
  assert.deepEqual((await call('PATCH', `${base}/addons/extra-droplet`, { body: {} })).body.data, expected)
  const token = await tokens.tenant('acme')
  assert.deepEqual((await call('GET', `${base}/addons`, { token })).body.data, [expected])
  assert.deepEqual((await call('GET', `${base}/addons/extra-droplet`, { token })).body.data, expected)
})

test('resource prices of one kind, unit and currency cannot overlap; their periods may touch', async t => {
  const { call } = await setup(t)
  const price = {
    resource_kind: 'droplet',
    unit: 'hour',
    price_cents: 2,
    currency: 'USD',
    effective_from: '2026-02-01',
    effective_to: '2026-03-01',
  }
  const post = (change: object) => call('POST', `${base}/resource-prices`, { body: { ...price, ...change } })
  const first = await made(post({}))
  const overlapping = [
    {},
    { effective_from: '2026-02-28', effective_to: null },
    { effective_from: '2026-01-01', effective_to: '2026-02-02' },
    { effective_from: '2026-02-10', effective_to: '2026-02-11', price_cents: 3 },
    { effective_from: '2026-01-01', effective_to: null },
  ]
  for (const change of overlapping) assertRefused(await post(change), 409, 'price_overlap')
  await made(post({ effective_from: '2026-03-01', effective_to: null }))
  await made(post({ effective_from: '2026-01-01', effective_to: '2026-02-01' }))
  await made(post({ currency: 'EUR' }))
  await made(post({ unit: 'month' }))
  await made(post({ resource_kind: 'volume' }))
  const shown = await call('GET', `${base}/resource-prices/${first.id}`)
  assert.deepEqual(shown.body.data, first)
  assert.equal(first.effective_from, '2026-02-01')
})

test('a price without an end is ended, and another follows it', async t => {
  const { call } = await setup(t)
  const body = {
    resource_kind: 'droplet',
    unit: 'hour',
    price_cents: 2,
    currency: 'USD',
    effective_from: '2026-01-01',
  }
  const first = await made(call('POST', `${base}/resource-prices`, { body }))
  assert.equal(first.effective_to, null)
  const next = { ...body, price_cents: 3, effective_from: '2027-01-01' }
  assertRefused(await call('POST', `${base}/resource-prices`, { body: next }), 409, 'price_overlap')
  const path = `${base}/resource-prices/${first.id}`
  const ended = await call('PATCH', path, { body: { effective_to: '2027-01-01' } })
  assert.deepEqual(ended.body.data, { ...first, effective_to: '2027-01-01' })
  await made(call('POST', `${base}/resource-prices`, { body: next }))
  assertRefused(await call('PATCH', path, { body: { effective_to: null } }), 409, 'price_overlap')
  assertRefused(await call('PATCH', path, { body: { effective_to: '2026-01-01' } }), 422, 'validation_failed')
  assertRefused(await call('PATCH', path, { body: { price_cents: 1 } }), 422, 'validation_failed')
})

test('resource prices are filtered by kind, unit, currency and the day on which they hold', async t => {
  const { call } = await setup(t)
  const price = { resource_kind: 'droplet', unit: 'hour', price_cents: 2, currency: 'USD' }
  const spans = [
    { effective_from: '2026-01-01', effective_to: '2026-06-01' },
    { effective_from: '2026-06-01', effective_to: null },
  ]
  for (const span of spans) {
    await made(call('POST', `${base}/resource-prices`, { body: { ...price, ...span } }))
    await made(call('POST', `${base}/resource-prices`, { body: { ...price, ...span, currency: 'EUR' } }))
    await made(
      call('POST', `${base}/resource-prices`, { body: { ...price, ...span, resource_kind: 'volume' } }),
    )
    await made(call('POST', `${base}/resource-prices`, { body: { ...price, ...span, unit: 'month' } }))
  }
  const count = async (query: string) => {
    const { status, body, text } = await call('GET', `${base}/resource-prices?${query}`)
    assert.equal(status, 200, text)
    return body.data.length
  }
  assert.equal(await count(''), 8)
  assert.equal(await count('resource_kind=volume'), 2)
  assert.equal(await count('currency=EUR'), 2)
  assert.equal(await count('unit=month'), 2)
  assert.equal(await count('on=2026-05-31'), 4)
  assert.equal(await count('on=2026-06-01'), 4)
  assert.equal(await count('on=2025-12-31'), 0)
  const { body } = await call(
    'GET',
    `${base}/resource-prices?resource_kind=droplet&unit=hour&currency=USD&on=2026-06-01`,
  )
  assert.deepEqual(
    body.data.map((row: { effective_from: string }) => row.effective_from),
    ['2026-06-01'],
  )
  for (const bad of ['on=2026-02-30', 'on=today', 'currency=usd', 'kind=droplet']) {
    assertRefused(await call('GET', `${base}/resource-prices?${bad}`), 422, 'validation_failed')
  }
})

test('every list of the catalog is paged in its order, each row once', async t => {
  const { call } = await setup(t)
  const body = { resource_kind: 'droplet', unit: 'hour', price_cents: 2, currency: 'USD' }
  for (let i = 1; i <= 5; i++) {
    await made(call('POST', `${base}/plans`, { body: { code: `plan-${i}`, name: `Plan ${i}` } }))
    await made(call('POST', `${base}/plans/plan-1/versions`, { body: terms }))
    await made(
      call('POST', `${base}/addons`, {
        body: { code: `addon-${i}`, resource_kind: 'x', qty: 1, price_cents: 0 },
      }),
    )
    const span = { effective_from: `2026-0${i}-01`, effective_to: `2026-0${i + 1}-01` }
    await made(call('POST', `${base}/resource-prices`, { body: { ...body, ...span } }))
  }
  for (const path of ['/plans', '/plans/plan-1/versions', '/addons', '/resource-prices']) {
    const whole = await call('GET', base + path)
    assert.equal(whole.body.data.length, 5)
    assert.equal(whole.headers.get('link'), null)
    const seen: unknown[] = []
    let next: string | null = `${base}${path}?limit=2`
    while (next) {
      const page: Answer = await call('GET', next)
      assert.equal(page.status, 200, page.text)
      seen.push(...page.body.data)
      next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? null
      assert.equal(next === null, page.body.next_cursor === null)
    }
    assert.deepEqual(seen, whole.body.data, path)
  }
})

test('a tenant reads plans and addons and writes nothing: 403', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const before = await publishedPlan(bundle)
  const token = await tokens.tenant('acme', { role: 'admin' })
  for (const path of ['/plans', '/plans/growth', '/addons']) {
    assert.equal((await call('GET', base + path, { token })).status, 200, path)
  }
  const writes: [string, string, object?][] = [
    ['POST', '/plans', { code: 'x', name: 'x' }],
    ['PATCH', '/plans/growth', { name: 'x' }],
    ['GET', '/plans/growth/versions'],
    ['GET', '/plans/growth/versions/1'],
    ['POST', '/plans/growth/versions', terms],
    ['PUT', '/plans/growth/versions/1', terms],
    ['DELETE', '/plans/growth/versions/1'],
    ['POST', '/plans/growth/versions/1/publish'],
    ['POST', '/addons', { code: 'x', resource_kind: 'x', qty: 1, price_cents: 1 }],
    ['PATCH', '/addons/x', { qty: 1 }],
    ['GET', '/resource-prices'],
    ['GET', '/resource-prices/01980000-0000-7000-8000-000000000000'],
    ['POST', '/resource-prices', {}],
    ['PATCH', '/resource-prices/01980000-0000-7000-8000-000000000000', {}],
  ]
  for (const [method, path, body] of writes) {
    assertRefused(await call(method, base + path, { token, body }), 403, 'forbidden')
  }
  assert.deepEqual((await call('GET', `${base}/plans/growth/versions/1`)).body.data, before)
})
