// Calling with an API key: what it may do, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newKey } from '../../src/features/api-keys/verify.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'
import { deployment } from '../support/factories.ts'
import { aroundStatements } from '../support/inspect-database.ts'
import { type Bundle, setup } from '../support/setup.ts'

const keysOf = (user: string) => `/api/v1/users/${user}/api_keys`

async function make({ call }: Bundle, user: string, token: string, body = {}) {
  const answer = await call('POST', keysOf(user), { token, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.data
}

const aliceToken = ({ tokens }: Bundle) => tokens.tenant('acme', { sub: 'alice' })
const seconds = (clock: Bundle['clock']) => Math.floor(clock.now().getTime() / 1000)
const whoAmI = async ({ call }: Bundle, token: string) =>
  (await call('GET', '/api/v1/session', { token })).body.data

async function addResource({ ctx, clock }: Bundle, tenantId: string): Promise<string> {
  const id = newId()
  const at = clock.now().toISOString()
  await sql`insert into cloud_resources (id, provider, provider_id, kind, name, tenant_id, tags, attrs, fingerprint, first_seen_at, last_seen_at)
    values (${id}, 'digitalocean', ${id}, 'droplet', 'web', ${tenantId}, '{}', '{}', 'f', ${at}, ${at})`.execute(
    ctx.db,
  )
  return id
}

test('a key acts as its user, in the tenant and with the roles of the token it was made with', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const [ours, theirs] = [await addResource(bundle, 'acme'), await addResource(bundle, 'other')]
  const token = await tokens.tenant('acme', { sub: 'alice', role: ['member', 'billing'] })
  const { api_key } = await make(bundle, 'alice', token)
  const { kind, permissions, ...who } = await whoAmI(bundle, api_key)
  assert.deepEqual(who, { sub: 'alice', tenant_id: 'acme', roles: ['member', 'billing'], expires_at: null })
  assert.deepEqual([kind, permissions.includes('deployments:write')], ['member', true])
  const { status, body } = await call('GET', '/api/v1/inventory', { token: api_key })
  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map((row: { id: string }) => row.id),
    [ours],
  )
  assert.equal((await call('GET', `/api/v1/inventory/${theirs}`, { token: api_key })).status, 404)
  assert.equal((await call('GET', '/api/v1/admin/scheduled_tasks', { token: api_key })).status, 403)
})

test('a platform_admin’s own key is a platform_admin, and sees all tenants', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  await addResource(bundle, 'acme')
  await addResource(bundle, 'other')
  const { api_key } = await make(bundle, 'ada', await tokens.admin())
  assert.deepEqual((await whoAmI(bundle, api_key)).roles, ['platform_admin'])
  assert.equal((await call('GET', '/api/v1/inventory', { token: api_key })).body.data.length, 2)
  assert.equal((await call('GET', '/api/v1/admin/scheduled_tasks', { token: api_key })).status, 200)
})

test('a key that a platform_admin makes for someone else has a tenant and no role', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const platform = await tokens.admin({ tenant_id: 'platform', role: ['platform_admin', 'billing'] })
  const inherited = await make(bundle, 'alice', platform)
  const named = await make(bundle, 'alice', platform, { tenant_id: 'acme' })
  const [first, second] = [await whoAmI(bundle, inherited.api_key), await whoAmI(bundle, named.api_key)]
  assert.deepEqual([first.sub, first.tenant_id, first.roles], ['alice', 'platform', []])
  assert.deepEqual([second.sub, second.tenant_id, second.roles], ['alice', 'acme', []])
  const refused = await call('POST', keysOf('alice'), { token: await tokens.admin(), body: {} })
  assert.equal(refused.status, 422, refused.text)
  assert.equal(refused.body.errors[0].pointer, '/tenant_id')
  assert.match(refused.body.detail, /acts in one tenant/)
})

test('a user may name its own tenant for a key, and no other', async t => {
  const bundle = await setup(t)
  const token = await aliceToken(bundle)
  const { api_key } = await make(bundle, 'alice', token, { tenant_id: 'acme' })
  assert.equal((await whoAmI(bundle, api_key)).tenant_id, 'acme')
  const other = await bundle.call('POST', keysOf('alice'), { token, body: { tenant_id: 'other' } })
  assert.equal(other.status, 403)
})

test('a key lists and revokes the keys of its user, but makes none, not even by rotating', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { api_key, key_id } = await make(bundle, 'alice', await aliceToken(bundle))
  const other = await make(bundle, 'alice', await aliceToken(bundle))
  const token = api_key
  assert.equal((await call('GET', keysOf('alice'), { token })).body.data.length, 2)
  assert.equal((await call('GET', `${keysOf('alice')}/${other.key_id}`, { token })).status, 200)
  for (const path of [keysOf('alice'), `${keysOf('alice')}/${key_id}/rotate`]) {
    const answer = await call('POST', path, { token, body: {} })
    assert.equal(answer.status, 403, path)
    assert.match(answer.body.detail, /made with a token/)
  }
  assert.equal((await call('GET', keysOf('bob'), { token })).status, 404)
  assert.equal((await call('DELETE', `${keysOf('alice')}/${other.key_id}`, { token })).status, 204)
  assert.equal((await call('DELETE', `${keysOf('alice')}/${key_id}`, { token })).status, 204)
  assert.equal((await call('GET', keysOf('alice'), { token })).status, 401)
})

test('a token that may do less than a key cannot rotate it into its hands', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { key_id, api_key } = await make(bundle, 'ada', await tokens.admin())
  const rotate = `${keysOf('ada')}/${key_id}/rotate`
  const lesser = await tokens.tenant('acme', { sub: 'ada' })
  assert.equal((await call('POST', rotate, { token: lesser, body: {} })).status, 404)
  assert.equal((await whoAmI(bundle, api_key)).sub, 'ada', 'the key is untouched')
  assert.equal((await call('POST', rotate, { token: await tokens.admin(), body: {} })).status, 201)
  const billing = await make(bundle, 'bob', await tokens.tenant('acme', { sub: 'bob', role: ['billing'] }))
  const member = await tokens.tenant('acme', { sub: 'bob' })
  const refused = await call('POST', `${keysOf('bob')}/${billing.key_id}/rotate`, { token: member, body: {} })
  assert.equal(refused.status, 403)
})

/** Registers a role with these permissions. */
async function register({ call }: Bundle, name: string, ...permissions: string[]) {
  const { status, text } = await call('POST', '/api/v1/admin/roles', { body: { name, permissions } })
  assert.equal(status, 201, text)
}

test('a key may no more than its owner’s newest token says, whichever token comes last', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const ada = { sub: 'ada', tenant_id: 'platform' }
  const first = await tokens.admin(ada)
  const [own, forAcme] = [
    await make(bundle, 'ada', first),
    await make(bundle, 'ada', first, { tenant_id: 'acme' }),
  ]
  const theirs = await deployment(bundle, 'acme')
  const statuses = async (token: string) => [
    (await call('GET', '/api/v1/admin/secrets', { token })).status,
    (await call('GET', `/api/v1/deployments/${theirs.id}`, { token })).status,
  ]
  assert.deepEqual(await statuses(own.api_key), [200, 200])

  clock.advance(5_000)
  const lesser = await tokens.tenant('platform', { sub: 'ada' })
  assert.equal((await call('GET', '/api/v1/session', { token: lesser })).status, 200)
  for (const { api_key } of [own, forAcme])
    assert.deepEqual(await statuses(api_key), [403, 404], 'as ada now')
  const { roles, tenant_id, kind } = await whoAmI(bundle, forAcme.api_key)
  assert.deepEqual([roles, tenant_id, kind], [['member'], 'platform', 'member'])

  assert.deepEqual(await statuses(first), [200, 200], 'an older token is good until it expires')
  const between = await tokens.admin({ ...ada, iat: seconds(clock) - 1 })
  await call('GET', '/api/v1/session', { token: between })
  assert.deepEqual(await statuses(own.api_key), [403, 404], 'but gives a key nothing back')
  const late = await make(bundle, 'ada', first)
  assert.deepEqual(await statuses(late.api_key), [403, 404], 'nor to a key that is made with it')

  clock.advance(5_000)
  const others = await tokens.tenant('acme', { sub: 'ada' })
  await call('GET', '/api/v1/session', { token: others })
  const again = await tokens.admin(ada)
  await call('GET', '/api/v1/session', { token: again })
  assert.deepEqual(
    await statuses(own.api_key),
    [200, 200],
    'ada is a platform_admin again; another’s ada is not she',
  )
})

test('a key loses what its owner’s newest token lacks, and gains nothing that it adds', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  await register(bundle, 'looker', 'inventory:read', 'deployments:read')
  await register(bundle, 'payer', 'billing:read', 'inventory:read', 'users:write')
  const as = (...role: string[]) => tokens.tenant('platform', { sub: 'alice', role })
  const statuses = async (token: string) => [
    (await call('GET', '/api/v1/billing/balance', { token })).status,
    (await call('GET', '/api/v1/deployments', { token })).status,
    (await call('GET', '/api/v1/inventory', { token })).status,
  ]
  const payer = await make(bundle, 'alice', await as('payer'))
  const both = await make(bundle, 'alice', await as('looker', 'payer'))
  assert.deepEqual(await statuses(both.api_key), [200, 200, 200])
  assert.deepEqual(await statuses(payer.api_key), [200, 403, 200])

  clock.advance(5_000)
  assert.deepEqual(await statuses(await as('looker')), [403, 200, 200])
  assert.deepEqual(await statuses(both.api_key), [403, 200, 200])
  assert.deepEqual(await statuses(payer.api_key), [403, 403, 200], 'what both permit')

  clock.advance(5_000)
  const theirs = await deployment(bundle, 'acme')
  const seen = async () =>
    (await call('GET', `/api/v1/deployments/${theirs.id}`, { token: both.api_key })).status
  assert.equal(await seen(), 200)
  await call('GET', '/api/v1/session', { token: await as('member') })
  assert.equal(await seen(), 404, 'its owner is no operator any more')
  clock.advance(5_000)
  await call('GET', '/api/v1/session', { token: await as('looker', 'payer') })
  assert.deepEqual(await statuses(both.api_key), [200, 200, 200])

  await call('POST', '/api/v1/admin/users', { body: { id: 'alice', tenant_id: 'platform', role: 'payer' } })
  assert.deepEqual(await statuses(both.api_key), [200, 403, 200], 'the role given here limits keys too')
  await call('POST', '/api/v1/admin/users', { body: { id: 'bob', tenant_id: 'platform' } })
  await call('PATCH', '/api/v1/admin/users/alice', { body: { status: 'suspended' } })
  assert.deepEqual(await statuses(both.api_key), [403, 403, 403])
  await call('DELETE', '/api/v1/admin/users/alice')
  assert.deepEqual(await statuses(both.api_key), [401, 401, 401])
})

test('keys are told of a token once, users without keys cost nothing, and of one second the last seen counts', async t => {
  const bundle = await setup(t)
  const { call, clock, ctx, tokens } = bundle
  const sent: string[] = []
  aroundStatements(t, ctx.db, ({ name }, send) => {
    if (['api_keys_update_owner_roles', 'users_access'].includes(name)) sent.push(name)
    return send()
  })
  const use = async (role: string, iat: number) =>
    call('GET', '/api/v1/session', { token: await tokens.tenant('acme', { sub: 'alice', role, iat }) })
  const start = seconds(clock)
  for (const iat of [start - 3, start - 2, start - 1]) await use('member', iat)
  assert.deepEqual(sent.splice(0), ['users_access'])

  const { api_key } = await make(bundle, 'alice', await aliceToken(bundle))
  clock.advance(5_000)
  sent.length = 0
  for (const iat of [start, start, start + 1, start + 1.5, start]) await use('member', iat)
  assert.deepEqual(sent.splice(0), ['users_access', 'users_access', 'api_keys_update_owner_roles'])
  await register(bundle, 'idle')
  await use('idle', start)
  assert.equal((await call('GET', '/api/v1/inventory', { token: api_key })).status, 200)
  await use('idle', start + 1)
  assert.equal((await call('GET', '/api/v1/inventory', { token: api_key })).status, 403)
})

test('a token that says not when it was issued takes platform_admin alone from keys, and a database that cannot write nothing', async t => {
  const bundle = await setup(t)
  const { call, clock, ctx, tokens } = bundle
  await register(bundle, 'idle')
  const { api_key } = await make(bundle, 'alice', await aliceToken(bundle))
  const claims = { sub: 'alice', tenant_id: 'acme', role: 'idle', exp: seconds(clock) + 3600 }
  const use = async (token: string) => (await call('GET', '/api/v1/inventory', { token })).status
  assert.deepEqual([await use(await tokens.raw(claims)), await use(api_key)], [403, 200])
  const admins = await make(bundle, 'ada', await tokens.admin({ sub: 'ada', tenant_id: 'acme' }))
  const secrets = async () => (await call('GET', '/api/v1/admin/secrets', { token: admins.api_key })).status
  assert.equal(await secrets(), 200)
  for (const [role, expected] of [
    ['member', 403],
    ['platform_admin', 403],
  ] as const) {
    await use(await tokens.raw({ ...claims, sub: 'ada', role }))
    assert.equal(await secrets(), expected, role)
  }
  clock.advance(5_000)
  const mend = aroundStatements(t, ctx.db, ({ name }, send) =>
    name === 'api_keys_update_owner_roles' ? Promise.reject(new Error('read-only')) : send(),
  )
  const newer = await tokens.tenant('acme', { sub: 'alice', role: 'idle' })
  assert.deepEqual([await use(newer), await use(api_key)], [403, 200])
  assert.match(bundle.logged(), /API keys were not told of a token/)
  mend()
  clock.advance(5_000)
  assert.deepEqual([await use(newer), await use(api_key)], [403, 403])
})

test('a platform_admin’s key for another tenant is suspended and revoked with its owner, at home too', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const token = await tokens.admin({ sub: 'eve', tenant_id: 'globex' })
  const { api_key } = await make(bundle, 'eve', token, { tenant_id: 'acme' })
  const status = async () => (await call('GET', '/api/v1/session', { token: api_key })).status
  const user = { id: 'eve', tenant_id: 'globex', status: 'suspended' }
  assert.equal(await status(), 200)
  await call('POST', '/api/v1/admin/users', { body: user })
  assert.equal(await status(), 403)
  await call('DELETE', '/api/v1/admin/users/eve')
  assert.equal(await status(), 401)
})

test('a key of the version before is its user’s too', async t => {
  const bundle = await setup(t)
  const { call, clock, ctx, tokens } = bundle
  const [own, forAcme] = [
    await make(bundle, 'ada', await tokens.admin()),
    await make(bundle, 'ada', await tokens.admin(), { tenant_id: 'acme' }),
  ]
  await ctx.db
    .updateTable('api_keys')
    .set({ owner_tenant: null, owner_roles: null, owner_token_at: null })
    .execute()
  const use = async (token: string) => (await call('GET', '/api/v1/admin/secrets', { token })).status
  assert.deepEqual([await use(own.api_key), await use(forAcme.api_key)], [200, 200])
  clock.advance(5_000)
  // A token that names neither a tenant nor platform_admin is refused, and yet it says what ada is now.
  assert.equal(await use(await tokens.admin({ role: 'member' })), 403)
  assert.deepEqual([await use(own.api_key), await use(forAcme.api_key)], [403, 403])
})

test('fifty altered keys are refused with 401, and those with a wrong checksum never reach the database', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const { api_key } = await make(bundle, 'alice', await aliceToken(bundle))
  await call('GET', '/api/v1/session', { token: api_key })
  const altered: string[] = []
  for (let at = 5; altered.length < 50; at++) {
    for (const char of ['0', '9', 'A', 'Z', 'a', 'z', '-', '.', '~']) {
      const place = 5 + ((at * 7) % (api_key.length - 5))
      const key = api_key.slice(0, place) + char + api_key.slice(place + 1)
      if (key !== api_key && !altered.includes(key)) altered.push(key)
    }
  }
  altered.push(
    api_key.slice(0, -1),
    `${api_key}0`,
    api_key.toLowerCase(),
    'cops_',
    `cops_${'x'.repeat(7_000)}`,
  )
  const reached: string[] = []
  aroundStatements(t, ctx.db, ({ name }, send) => {
    reached.push(name)
    return send()
  })
  for (const token of altered) {
    const answer = await call('GET', '/api/v1/session', { token })
    assert.equal(answer.status, 401, token)
    assert.equal(answer.body.code, 'unauthenticated')
  }
  assert.deepEqual(reached, [])

  const invented = newKey().raw
  assert.equal((await call('GET', '/api/v1/session', { token: invented })).status, 401)
  assert.deepEqual(reached, ['api_keys_find_by_prefix'], 'a well-formed key is looked up, once')
})

test('another secret behind a known prefix is refused, though its checksum is right', async t => {
  const bundle = await setup(t)
  const { key_id, api_key } = await make(bundle, 'alice', await aliceToken(bundle))
  const other = newKey()
  await bundle.ctx.db
    .updateTable('api_keys')
    .set({ key_prefix: other.prefix })
    .where('id', '=', key_id)
    .execute()
  for (const token of [other.raw, api_key]) {
    assert.equal((await bundle.call('GET', '/api/v1/session', { token })).status, 401)
  }
})

test('every refusal of a key reads the same', async t => {
  const bundle = await setup(t)
  const token = await aliceToken(bundle)
  const [revoked, expired] = [
    await make(bundle, 'alice', token),
    await make(bundle, 'alice', token, { expires_at: '2026-11-15T12:00:01Z' }),
  ]
  await bundle.call('DELETE', `${keysOf('alice')}/${revoked.key_id}`, { token })
  bundle.clock.advance(1_000)
  const answers = new Set<string>()
  for (const key of [revoked.api_key, expired.api_key, newKey().raw, 'cops_nonsense']) {
    const { status, body } = await bundle.call('GET', '/api/v1/session', { token: key })
    answers.add(JSON.stringify({ status, ...body, request_id: '' }))
  }
  assert.equal(answers.size, 1)
})

test('the time of use is written at most once a minute', async t => {
  const bundle = await setup(t)
  const { call, clock } = bundle
  const { api_key, key_id } = await make(bundle, 'alice', await aliceToken(bundle))
  const lastUse = async () => (await call('GET', `${keysOf('alice')}/${key_id}`)).body.data.last_used_at
  const use = () => call('GET', '/api/v1/session', { token: api_key })
  const written = (time: string) => eventually(`it reads ${time}`, async () => (await lastUse()) === time)
  assert.equal(await lastUse(), null)
  await use()
  await written('2026-11-15T12:00:00.000Z')
  clock.set('2026-11-15T12:00:59.999Z')
  await use()
  assert.equal(await lastUse(), '2026-11-15T12:00:00.000Z')
  clock.set('2026-11-15T12:01:00.000Z')
  await Promise.all(Array.from({ length: 10 }, use))
  await written('2026-11-15T12:01:00.000Z')
})

test('a use that cannot be written down is logged, and the request is answered all the same', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  const { api_key } = await make(bundle, 'alice', await aliceToken(bundle))
  const { db } = ctx
  ctx.db = db.withSchema('nowhere')
  const { status } = await call('GET', '/api/v1/session', { token: api_key })
  ctx.db = db
  assert.equal(status, 200)
  await eventually('it is logged', async () =>
    bundle.logged().includes('the use of an API key was not recorded'),
  )
})

test('a request with a key that writes in a transaction does not wait for its own use to be recorded', async t => {
  const bundle = await setup(t)
  const { api_key } = await make(bundle, 'ada', await bundle.tokens.admin())
  const answers = await Promise.all(
    ['housekeeping', 'resource_sync'].map(task =>
      bundle.call('POST', `/api/v1/admin/scheduled_tasks/${task}/run`, { token: api_key, body: {} }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202],
  )
  assert.equal(answers[0]!.body.data.requested_by, 'ada')
})
