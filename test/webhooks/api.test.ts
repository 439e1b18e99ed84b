import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { deliverDue } from '../../src/features/webhooks/delivery-worker.ts'
import { setup } from '../support/setup.ts'
import { allowPrivate, hooks, receiver, verified, webhook } from '../support/webhook-receiver.ts'

const nobody = '01980000-0000-7000-8000-000000000000'
const url = 'https://hooks.example.com/cloudops'

test('a webhook is made, shown without its secret, changed, switched off and deleted', async t => {
  const { call, ctx, clock } = await setup(t)
  const wish = { url, events: ['deployment.transitioned', 'drift.*'], description: 'ops', tenant_id: 'acme' }
  const headers = { 'idempotency-key': 'hook-1' }
  const made = await call('POST', hooks, { body: wish, headers })
  assert.equal(made.status, 201, made.text)
  const { secret, ...shown } = made.body.data
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const at = clock.now().toISOString()
  assert.deepEqual(shown, {
    id: shown.id,
    ...wish,
    enabled: true,
    disabled_reason: null,
    previous_secret_expires_at: null,
    created_by: 'ada',
    created_at: at,
    updated_at: at,
  })
  const path = `${hooks}/${shown.id}`
  assert.equal(made.headers.get('location'), path)
  assert.deepEqual(
    (await call('POST', hooks, { body: wish, headers })).body,
    made.body,
    'asked twice, made once',
  )
  assert.deepEqual((await call('GET', path)).body, { data: shown })

  const second = await webhook({ call }, { url: 'HTTPS://Hooks.Example.com', enabled: false })
  assert.deepEqual([second.url, second.enabled], ['https://hooks.example.com/', false])
  const { body: page, headers: pageHeaders } = await call('GET', `${hooks}?limit=1`)
  assert.deepEqual([page.data.length, page.data[0].id], [1, second.id])
  const next = /<(.+)>; rel="next"/.exec(pageHeaders.get('link') ?? '')![1]!
  assert.deepEqual((await call('GET', next)).body, { data: [shown], next_cursor: null })

  clock.advance(1000)
  const change = { url: `${url}/2`, events: ['*'], description: null, tenant_id: null, enabled: false }
  const changed = await call('PATCH', path, { body: change })
  assert.deepEqual(changed.body.data, { ...shown, ...change, updated_at: clock.now().toISOString() })
  assert.deepEqual((await call('PATCH', path, { body: {} })).body.data, changed.body.data)
  assert.equal((await call('DELETE', path)).status, 204)
  for (const [method, tail] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', `/deliveries/${nobody}`],
    ['POST', `/deliveries/${nobody}/replay`],
  ] as const) {
    const body = method === 'PATCH' ? { body: {} } : {}
    assert.equal((await call(method, path + tail, body)).status, 404, `${method} ${tail}`)
  }
  const { rows } = await sql<{ text: string }>`
    select string_agg(w::text, ' ') || (select string_agg(k::text, ' ') from idempotency_keys k) as text
    from webhooks w`.execute(ctx.db)
  for (const key of [secret, second.secret]) assert.ok(!rows[0]!.text.includes(key.slice(6, 40)))
})

test('an address that is not https, or private, is refused, and so is what nobody sends', async t => {
  const { call } = await setup(t)
  const { id } = await webhook({ call }, { url })
  const refused: [object, string][] = [
    [{ url: 'http://hooks.example.com/' }, '/url'],
    [{ url: 'https://127.0.0.1/' }, '/url'],
    [{ url: 'https://[::ffff:169.254.169.254]/' }, '/url'],
    [{ url: 'https://a:b@hooks.example.com/' }, '/url'],
    [{ url: 'nonsense' }, '/url'],
    [{ url: `https://hooks.example.com/${'x'.repeat(2048)}` }, '/url'],
    [{ events: [] }, '/events'],
    [{ events: ['drift.*', 'drift.*'] }, '/events'],
    [{ events: ['drift.reverted'] }, '/events/0'],
    [{ events: ['webhook.test'] }, '/events/0'],
    [{ tenant_id: '' }, '/tenant_id'],
    [{ enabled: null }, '/enabled'],
    [{ secret: 'mine' }, '/secret'],
  ]
  for (const [wrong, pointer] of refused) {
    const body = { url, events: ['*'], ...wrong }
    for (const answer of [
      await call('POST', hooks, { body }),
      await call('PATCH', `${hooks}/${id}`, { body: wrong }),
    ]) {
      assert.equal(answer.status, 422, `${JSON.stringify(wrong)}: ${answer.text}`)
      assert.equal(answer.body.errors[0].pointer, pointer, answer.text)
    }
  }
  assert.equal((await call('POST', hooks, { body: { url } })).status, 422)
  assert.equal((await call('GET', `${hooks}/${id}/deliveries?status=lost`)).status, 422)
})

test('webhooks are for a platform_admin alone', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const { id } = await webhook({ call }, { url })
  const one = `/${id}`
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', one],
    ['PATCH', one],
    ['DELETE', one],
    ['POST', `${one}/rotate-secret`],
    ['POST', `${one}/test`],
    ['GET', `${one}/deliveries`],
    ['GET', `${one}/deliveries/${nobody}`],
    ['POST', `${one}/deliveries/${nobody}/replay`],
  ] as const)
    assert.equal((await call(method, hooks + path, { token })).status, 403, `${method} ${path}`)
})

test('after a rotation both secrets sign for a day, and of three the oldest no longer does', async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { call, ctx, clock, logged } = bundle
  const it = await receiver(t)
  const { id, secret: first } = await webhook(bundle, { url: it.url })
  const send = async () => {
    assert.equal((await call('POST', `${hooks}/${id}/test`)).status, 202)
    assert.equal(await deliverDue(ctx), 1)
    return it.received.at(-1)!
  }
  const fits = async (...secrets: string[]) => {
    const message = await send()
    return secrets.map(secret => verified(message, secret, clock.now()))
  }
  const rotated = await call('POST', `${hooks}/${id}/rotate-secret`)
  assert.equal(rotated.status, 200, rotated.text)
  assert.equal(rotated.headers.get('cache-control'), 'no-store')
  const { secret: second, previous_secret_expires_at } = rotated.body.data
  assert.equal(previous_secret_expires_at, '2026-11-16T12:00:00.000Z')
  assert.deepEqual(await fits(first, second), [true, true])
  const { secret: third } = (await call('POST', `${hooks}/${id}/rotate-secret`)).body.data
  assert.deepEqual(await fits(first, second, third), [false, true, true])
  clock.set('2026-11-16T12:00:00.000Z')
  const token = await bundle.tokens.admin()
  assert.equal((await call('POST', `${hooks}/${id}/test`, { token })).status, 202)
  await deliverDue(ctx)
  const last = it.received.at(-1)!
  assert.deepEqual(
    [second, third].map(secret => verified(last, secret, clock.now())),
    [false, true],
  )
  for (const secret of [first, second, third]) assert.ok(!logged().includes(secret.slice(6, 40)))
})
