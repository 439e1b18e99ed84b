// /api/v1/webhooks: a tenant's own, and nobody else's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import { newId } from '../../src/kernel/ids.ts'
import { deployment, move } from '../support/factories.ts'
import { setup } from '../support/setup.ts'
import { allowPrivate, hooks, receiver, verified, webhook } from '../support/webhook-receiver.ts'

const base = '/api/v1/webhooks'
const url = 'https://hooks.example.com/acme'

test('a tenant makes, changes, tries, replays, rotates and deletes a webhook of its own', async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { call, tokens, clock, ctx } = bundle
  const token = await tokens.tenant('acme')
  const it = await receiver(t)
  const shop = await deployment(bundle, 'acme')
  const made = await call('POST', base, { token, body: { url: it.url, events: ['deployment.*'] } })
  assert.equal(made.status, 201, made.text)
  const { secret, ...shown } = made.body.data
  const path = `${base}/${shown.id}`
  assert.equal(made.headers.get('location'), path)
  assert.deepEqual([shown.tenant_id, shown.enabled], ['acme', true])
  assert.deepEqual((await call('GET', path, { token })).body.data, shown)
  assert.deepEqual((await call('GET', base, { token })).body, { data: [shown], next_cursor: null })
  const changed = await call('PATCH', path, { token, body: { description: 'ours' } })
  assert.deepEqual(changed.body.data, { ...shown, description: 'ours' })

  await move(bundle, shop.id, 'paused')
  const tried = await call('POST', `${path}/test`, { token })
  assert.equal(tried.status, 202, tried.text)
  assert.deepEqual(tried.body.data.event.data, { tenant_id: 'acme', webhook_id: shown.id })
  assert.equal(await deliverDue(ctx), 2)
  assert.ok(it.received.every(message => verified(message, secret, clock.now())))
  const { body: log } = await call('GET', `${path}/deliveries?status=delivered`, { token })
  assert.deepEqual(
    log.data.map((each: { event_type: string }) => each.event_type),
    ['webhook.test', 'deployment.transitioned'],
  )
  const delivery = `${path}/deliveries/${log.data[1].id}`
  assert.equal((await call('GET', delivery, { token })).body.data.attempts.length, 1)
  assert.equal((await call('POST', `${delivery}/replay`, { token })).status, 202)
  assert.notEqual((await call('POST', `${path}/rotate-secret`, { token })).body.data.secret, secret)
  assert.equal((await call('DELETE', path, { token })).status, 204)
  assert.equal((await call('GET', path, { token })).status, 404)
})

test('of two tenants and the platform none finds, changes or uses the webhook of another', async t => {
  const bundle = await setup(t)
  const { call, tokens, ctx } = bundle
  const [acme, globex] = [await tokens.tenant('acme'), await tokens.tenant('globex')]
  const make = async (token: string | undefined, at: string, more = {}) => {
    const { status, body, text } = await call('POST', at, { token, body: { url, events: ['*'], ...more } })
    assert.equal(status, 201, text)
    return body.data.id as string
  }
  const owned = { acme: await make(acme, base), globex: await make(globex, base) }
  const platforms = await make(undefined, hooks)
  // The platform's, though it hears of acme alone.
  const about = await make(undefined, hooks, { tenant_id: 'acme' })
  const { body: test } = await call('POST', `${base}/${owned.globex}/test`, { token: globex })
  const delivered = test.data.id as string

  const operations = (id: string, delivery: string) =>
    [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, { enabled: false }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate-secret`],
      ['POST', `/${id}/test`],
      ['GET', `/${id}/deliveries`],
      ['GET', `/${id}/deliveries/${delivery}`],
      ['POST', `/${id}/deliveries/${delivery}/replay`],
    ] as const
  for (const [who, token, at, ids] of [
    ['acme', acme, base, [owned.globex, platforms, about, newId()]],
    ['globex', globex, base, [owned.acme, platforms, about]],
    ['the platform at its own', undefined, hooks, [owned.acme, owned.globex]],
    ['the platform at the tenants’', undefined, base, [platforms, about]],
  ] as const)
    for (const id of ids)
      for (const [method, path, body] of operations(id, delivered)) {
        const { status, text } = await call(method, at + path, { token, body })
        assert.equal(status, 404, `${who}: ${method} ${at + path}: ${text}`)
      }
  // A delivery is its own webhook's.
  for (const [method, tail] of [
    ['GET', ''],
    ['POST', '/replay'],
  ] as const) {
    const path = `${base}/${owned.acme}/deliveries/${delivered}${tail}`
    assert.equal((await call(method, path, { token: acme })).status, 404)
  }
  const listed = async (path: string, token?: string) =>
    (await call('GET', path, { token })).body.data.map(({ id }: { id: string }) => id)
  assert.deepEqual(await listed(base, acme), [owned.acme])
  assert.deepEqual(await listed(`${base}?tenant_id=acme`, acme), [owned.acme])
  assert.deepEqual(await listed(base), [owned.globex, owned.acme])
  assert.deepEqual(await listed(`${base}?tenant_id=globex`), [owned.globex])
  assert.deepEqual(await listed(hooks), [about, platforms])
  assert.deepEqual(await listed(`${hooks}?tenant_id=acme`), [about])
  assert.equal((await call('GET', `${base}?tenant_id=globex`, { token: acme })).status, 403)
  const rows = await ctx.db.selectFrom('webhooks').select(['id', 'enabled', 'previous_secret']).execute()
  assert.ok(rows.length === 4 && rows.every(({ enabled, previous_secret }) => enabled && !previous_secret))
  assert.equal((await listed(`${base}/${owned.acme}/deliveries`, acme)).length, 0)
})

test('a tenant’s webhook is its own tenant’s, for events that a tenant can have, and to a public address', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const { body } = await call('POST', base, { token, body: { url, events: ['*'], tenant_id: 'acme' } })
  const one = `${base}/${body.data.id}`
  for (const [wrong, status, pointer] of [
    [{ tenant_id: 'globex' }, 403],
    [{ tenant_id: null }, 422, '/tenant_id'],
    [{ events: ['invoice.*'] }, 422, '/events/0'],
    [{ events: ['drift.*', 'invoice.pushed'] }, 422, '/events/1'],
    [{ events: ['audit.checkpoint'] }, 422, '/events/0'],
    [{ url: 'https://10.0.0.1/' }, 422, '/url'],
    [{ owner_tenant_id: 'acme' }, 422, '/owner_tenant_id'],
  ] as const) {
    const refused = await call('POST', base, { token, body: { url, events: ['*'], ...wrong } })
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.pointer], [status, pointer], refused.text)
  }
  for (const wrong of [{ tenant_id: 'acme' }, { tenant_id: 'globex' }, { events: ['invoice.*'] }]) {
    assert.equal((await call('PATCH', one, { token, body: wrong })).status, 422)
    if ('tenant_id' in wrong) assert.equal((await call('PATCH', one, { body: wrong })).status, 422)
  }
  const nameless = await call('POST', base, { body: { url, events: ['*'] } })
  assert.deepEqual([nameless.status, nameless.body.errors[0].pointer], [422, '/tenant_id'])
})

test('a tenant has ten webhooks at most, and what a role does not permit is refused', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const make = (token: string, more = {}) =>
    call('POST', base, { token, body: { url, events: ['*'], ...more } })
  const made = []
  for (let n = 0; n < 10; n++) made.push((await make(token, { enabled: n > 0 })).status)
  assert.deepEqual(new Set(made), new Set([201]))
  const refused = await make(token)
  assert.deepEqual([refused.status, refused.body.code], [409, 'webhook_limit'])
  assert.equal((await make(await tokens.tenant('globex'))).status, 201)
  await webhook({ call }, { url, tenant_id: 'acme' })
  const { body } = await call('GET', `${base}?limit=1`, { token })
  assert.equal((await call('DELETE', `${base}/${body.data[0].id}`, { token })).status, 204)
  assert.equal((await make(token)).status, 201)

  await call('POST', '/api/v1/admin/roles', { body: { name: 'looker', permissions: ['webhooks:read'] } })
  const looker = await tokens.tenant('acme', { role: 'looker' })
  assert.equal((await call('GET', base, { token: looker })).status, 200)
  assert.equal((await make(looker)).status, 403)
  for (const [method, tail] of [
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
  ] as const)
    assert.equal((await call(method, `${base}/${body.data[0].id}${tail}`, { token: looker })).status, 403)
})
