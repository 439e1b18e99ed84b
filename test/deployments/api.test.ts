import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Move, moveDeployment } from '../../src/features/deployments/store.ts'
import { firstIdAt } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment, move } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/deployments'
const UNSET = {
  billing_action_suspended: false,
  billing_action_suspended_by: null,
  billing_action_suspended_at: null,
  billing_action_suspended_reason: null,
}

test('a deployment starts in active with the contract’s defaults, and creating it records no event', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const { status, body, headers } = await call('POST', base, { token, body: { slug: 'shop' } })
  assert.equal(status, 201)
  const { id, created_at, updated_at, ...rest } = body.data
  assert.equal(headers.get('location'), `${base}/${id}`)
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    tenant_id: 'acme',
    slug: 'shop',
    display_name: 'shop',
    region: 'nyc3',
    state: 'active',
    llm_mode: 'standard',
    ...UNSET,
    template_code: null,
    template_version: null,
  })
  const shown = await call('GET', `${base}/${id}`, { token })
  assert.deepEqual(shown.body.data.events, [])
  assert.equal(shown.body.data.subscription, null)
  assert.deepEqual(shown.body.data.allowed_transitions, ['paused', 'cancelled'])
})

test('whichever of its optional fields are given, in whatever order, a deployment is created', async t => {
  const { call } = await setup(t)
  const optional = { display_name: 'Shop', region: 'ams3', template_code: 'web', template_version: '2' }
  const fields = Object.entries(optional)
  for (const [nth, [name, value]] of [...fields, ...fields.toReversed()].entries()) {
    const body = { slug: `shop-${nth}`, tenant_id: 'acme', [name]: value }
    const { status, body: made, text } = await call('POST', '/api/v1/deployments', { body })
    assert.equal(status, 201, text)
    assert.equal(made.data[name], value)
  }
})

test('a deployment is created with every field that is given', async t => {
  const { call } = await setup(t)
  const given = {
    tenant_id: 'acme',
    slug: 'shop',
    display_name: 'The Shop',
    region: 'fra1',
    llm_mode: 'private',
    template_code: 'rails',
    template_version: '7',
  }
  const made = await call('POST', base, { body: given })
  assert.equal(made.status, 201, made.text)
  const { id, created_at, updated_at, ...rest } = made.body.data
  assert.deepEqual(rest, { ...given, ...UNSET, state: 'active' })
  const {
    allowed_transitions: _,
    subscription,
    events,
    ...shown
  } = (await call('GET', `${base}/${id}`)).body.data
  assert.deepEqual([shown, subscription, events], [made.body.data, null, []])
})

test('active to paused is 200 with one event that names the actor', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const token = await bundle.tokens.tenant('acme', { sub: 'grace', role: ['owner', 'member'] })
  const moved = await bundle.call('POST', `${base}/${id}/transition`, {
    token,
    body: { state: 'paused', reason: 'holidays' },
  })
  assert.equal(moved.status, 200)
  assert.equal(moved.body.data.state, 'paused')
  assert.deepEqual(moved.body.data.allowed_transitions, ['active', 'cancelled'])
  const { event } = moved.body.data
  assert.deepEqual(
    {
      from: event.from_state,
      to: event.to_state,
      actor: event.actor,
      role: event.actor_role,
      reason: event.reason,
      of: event.deployment_id,
    },
    { from: 'active', to: 'paused', actor: 'grace', role: 'owner', reason: 'holidays', of: id },
  )
  const shown = await bundle.call('GET', `${base}/${id}`, { token })
  assert.deepEqual(shown.body.data.events, [event])
})

test(
  'a deployment shows its latest 50 events, newest last, and its events page through all of them',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const { id } = await deployment(bundle)
    for (let nth = 0; nth < 61; nth++) await move(bundle, id, nth % 2 === 0 ? 'paused' : 'active')
    const token = await bundle.tokens.tenant('acme')
    const shown = await bundle.call('GET', `${base}/${id}`, { token })
    assert.equal(shown.body.data.events.length, 50)
    assert.equal(shown.body.data.events[49].to_state, 'paused')

    const events: { id: string }[] = []
    let path = `${base}/${id}/events?limit=25`
    let pages = 0
    for (; path; pages++) {
      const page = await bundle.call('GET', path, { token })
      assert.equal(page.status, 200)
      events.push(...page.body.data)
      path = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? ''
      assert.equal(page.body.next_cursor === null, path === '')
    }
    assert.deepEqual([pages, events.length, new Set(events.map(event => event.id)).size], [3, 61, 61])
    assert.deepEqual(events.slice(0, 50).reverse(), shown.body.data.events)

    const foreign = await bundle.tokens.tenant('globex')
    const refused = await bundle.call('GET', `${base}/${id}/events`, { token: foreign })
    assert.deepEqual([refused.status, refused.body.code], [404, 'not_found'])
  },
)

test('paused to archived is 422, names the allowed moves, and leaves the state unchanged without an event', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  await move(bundle, id, 'paused')
  const refused = await bundle.call('POST', `${base}/${id}/transition`, { body: { state: 'archived' } })
  assert.equal(refused.status, 422)
  assert.equal(refused.body.code, 'invalid_transition')
  assert.deepEqual(refused.body.allowed_transitions, ['active', 'suspended', 'cancelled'])
  const { body } = await bundle.call('GET', `${base}/${id}`)
  assert.equal(body.data.state, 'paused')
  assert.equal(body.data.events.length, 1)
})

test('a move whose event cannot be written is no move', async t => {
  const bundle = await setup(t)
  const { db } = bundle.ctx
  const { id } = await deployment(bundle)
  await sql`alter table cloud_deployment_events add constraint no_more check (false) not valid`.execute(db)
  const { status } = await bundle.call('POST', `${base}/${id}/transition`, { body: { state: 'paused' } })
  await sql`alter table cloud_deployment_events drop constraint no_more`.execute(db)
  assert.ok(status >= 400)
  const { body } = await bundle.call('GET', `${base}/${id}`)
  assert.deepEqual([body.data.state, body.data.events], ['active', []])
})

/** Who may make which move. `t`: also a tenant with its own; `o`: an operator alone; `-`: there is no such move. */
const MOVES = {
  //          trial active past_due paused suspended cancelled archived
  trial: '-   t   o   -   o   t   -',
  active: '-   -   o   t   o   t   -',
  past_due: '-   o   -   o   o   t   -',
  paused: '-   t   -   -   o   t   -',
  suspended: '-   o   -   -   -   t   -',
  cancelled: '-   -   -   -   -   -   t',
  archived: '-   -   -   -   -   -   -',
}
const STATES = Object.keys(MOVES) as (keyof typeof MOVES)[]

test(
  'every move is answered for every kind of caller as the table says, and allowed_transitions with it',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { keys: false, env: { RATE_LIMIT_PER_MINUTE: '0' } })
    const { call, ctx, tokens } = bundle
    const { id } = await deployment(bundle)
    const role = async (name: string, ...permissions: string[]) =>
      call('POST', '/api/v1/admin/roles', { body: { name, permissions } })
    await role('desk', '*:read', '*:write')
    await role('chief', '*:read', '*:write', 'deployments:operate')
    await role('mover', 'deployments:read', 'deployments:operate')
    const callers = {
      member: await tokens.tenant('acme'),
      // A tenant's own role operates nothing, whatever it is called.
      namesake: await tokens.tenant('acme', { role: 'chief' }),
      desk: await tokens.tenant('platform', { role: 'desk' }),
      chief: await tokens.tenant('platform', { role: 'chief' }),
      mover: await tokens.tenant('platform', { role: 'mover' }),
      admin: await tokens.admin(),
    }
    for (const [kind, token] of Object.entries(callers)) {
      const letters = ['chief', 'mover', 'admin'].includes(kind) ? 'to' : 't'
      for (const from of STATES) {
        const line = MOVES[from].split(/ +/)
        const allowed = STATES.filter((_, i) => letters.includes(line[i]!))
        // Written directly: no flow enters trial.
        const reset = () => sql`update cloud_deployments set state = ${from} where id = ${id}`.execute(ctx.db)
        await reset()
        const shown = await call('GET', `${base}/${id}`, { token })
        assert.deepEqual(
          shown.body.data.allowed_transitions.toSorted(),
          allowed.toSorted(),
          `${kind}: ${from}`,
        )
        for (const [i, to] of STATES.entries()) {
          const { status, body } = await call('POST', `${base}/${id}/transition`, {
            token,
            body: { state: to },
          })
          const expected = letters.includes(line[i]!)
            ? [200, undefined]
            : line[i] === 'o'
              ? [403, 'operator_only']
              : [422, 'invalid_transition']
          assert.deepEqual([status, body.code], expected, `${kind}: ${from} → ${to}`)
          if (status === 200) await reset()
          else assert.deepEqual(body.allowed_transitions.toSorted(), allowed.toSorted())
        }
      }
    }
  },
)

test('who may only read is shown no moves, and a stranger’s deployment is not there to be moved', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const { id } = await deployment(bundle)
  await call('POST', '/api/v1/admin/roles', { body: { name: 'reader', permissions: ['*:read'] } })
  for (const tenant of ['acme', 'platform']) {
    const token = await tokens.tenant(tenant, { role: 'reader' })
    assert.deepEqual((await call('GET', `${base}/${id}`, { token })).body.data.allowed_transitions, [])
  }
  const token = await tokens.tenant('globex')
  const body = { state: 'suspended' }
  assert.equal((await call('POST', `${base}/${id}/transition`, { token, body })).status, 404)
})

test('while billing actions are suspended nobody moves it to past_due or suspended; who did so, when and why is shown', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  const { id } = await deployment(bundle)
  const path = `${base}/${id}`
  const member = await tokens.tenant('acme')
  const patch = (body: object, token?: string) => call('PATCH', path, { body, token })
  const transition = (state: string, token?: string) =>
    call('POST', `${path}/transition`, { body: { state }, token })
  const set = await patch({
    billing_action_suspended: true,
    billing_action_suspended_reason: 'Disputed invoice',
  })
  const held = {
    billing_action_suspended: true,
    billing_action_suspended_by: 'ada',
    billing_action_suspended_at: '2026-11-15T12:00:00.000Z',
    billing_action_suspended_reason: 'Disputed invoice',
  }
  assert.deepEqual(flagIn(set.body.data), held)
  assert.deepEqual(flagIn((await call('GET', path, { token: member })).body.data), held)
  assert.deepEqual(flagIn((await call('GET', base, { token: member })).body.data[0]), held)

  for (const state of ['past_due', 'suspended']) {
    for (const token of [undefined, member]) {
      const refused = await transition(state, token)
      assert.deepEqual([refused.status, refused.body.code], [409, 'billing_action_suspended'], state)
    }
  }
  const { data } = (await call('GET', path)).body
  assert.deepEqual(
    [data.state, data.allowed_transitions, data.events],
    ['active', ['paused', 'cancelled'], []],
  )
  const paused = await transition('paused', member)
  assert.deepEqual(paused.body.data.allowed_transitions, ['active', 'cancelled'])
  assert.deepEqual(flagIn(paused.body.data), held)
  const archived = await transition('archived')
  assert.deepEqual([archived.status, archived.body.allowed_transitions], [422, ['active', 'cancelled']])
  const refused = await transition('suspended')
  assert.equal(refused.body.code, 'billing_action_suspended')

  clock.advance(60_000)
  const eve = await tokens.admin({ sub: 'eve' })
  assert.deepEqual(
    flagIn((await patch({ billing_action_suspended: true }, eve)).body.data),
    held,
    'set is set',
  )
  const again = { billing_action_suspended: true, billing_action_suspended_reason: 'Settled in court' }
  assert.deepEqual(flagIn((await patch(again, eve)).body.data), {
    ...held,
    billing_action_suspended_reason: 'Settled in court',
  })
  assert.deepEqual(
    flagIn((await patch({ display_name: 'x' }, member)).body.data).billing_action_suspended_by,
    'ada',
  )
  for (const body of [
    { billing_action_suspended_reason: 'Why' },
    { billing_action_suspended: false, billing_action_suspended_reason: 'Why' },
    { billing_action_suspended: true, billing_action_suspended_reason: '' },
  ]) {
    const { status, body: problem } = await patch(body)
    assert.deepEqual([status, problem.errors[0].pointer], [422, '/billing_action_suspended_reason'])
  }
  assert.equal((await patch({ billing_action_suspended_reason: 'Why' }, member)).status, 403)

  assert.deepEqual(flagIn((await patch({ billing_action_suspended: false })).body.data), UNSET)
  assert.deepEqual(flagIn((await call('GET', path)).body.data), UNSET)
  assert.equal((await transition('suspended')).status, 200)
})

const flagIn = (data: Record<string, unknown>) =>
  Object.fromEntries(Object.keys(UNSET).map(name => [name, data[name]]))

test('a state that does not exist is a validation failure', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  for (const body of [
    { state: 'asleep' },
    { state: null },
    {},
    { state: 'paused', extra: 1 },
    { state: ['paused'] },
  ]) {
    const answer = await bundle.call('POST', `${base}/${id}/transition`, { body })
    assert.equal(answer.status, 422)
    assert.equal(answer.body.code, 'validation_failed')
  }
})

test('events are listed oldest first, and the log cannot be changed', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  await move(bundle, id, 'paused', 'active', 'suspended', 'cancelled', 'archived')
  const { body } = await bundle.call('GET', `${base}/${id}`)
  assert.deepEqual(
    body.data.events.map((event: { to_state: string }) => event.to_state),
    ['paused', 'active', 'suspended', 'cancelled', 'archived'],
  )
  assert.deepEqual(body.data.allowed_transitions, [])
  for (const change of [
    sql`update cloud_deployment_events set actor = 'x'`,
    sql`delete from cloud_deployment_events`,
    sql`truncate cloud_deployment_events`,
  ]) {
    await assert.rejects(change.execute(bundle.ctx.db), /append-only/)
  }
})

test('a move right after one by a node whose clock is ahead is dated and listed after it', async t => {
  const bundle = await setup(t)
  const { call, clock, ctx } = bundle
  const { id } = await deployment(bundle)
  const elsewhere: Move = {
    ...{ id: firstIdAt(Date.now() + 10_000), deployment_id: id, to_state: 'paused', from: ['active'] },
    ...{ actor: 'ada', actor_role: 'platform_admin', reason: null, billing_action: false },
    ...{ subscription_status: null, created_at: new Date(clock.now().getTime() + 40).toISOString() },
  }
  await moveDeployment(ctx.db, { allTenants: true }, elsewhere)
  const { status, body } = await call('POST', `${base}/${id}/transition`, { body: { state: 'active' } })
  assert.equal(status, 200)
  const { events } = (await call('GET', `${base}/${id}`)).body.data
  assert.deepEqual(
    events.map((event: { from_state: string; to_state: string }) => [event.from_state, event.to_state]),
    [
      ['active', 'paused'],
      ['paused', 'active'],
    ],
  )
  assert.equal(events[1].id, body.data.event.id)
  assert.deepEqual(
    [events[1].created_at, body.data.event.created_at, body.data.updated_at],
    Array(3).fill(new Date(clock.now().getTime() + 41).toISOString()),
  )
})

test('a slug is unique for a tenant, and free for another', async t => {
  const { call } = await setup(t)
  const create = (tenant_id: string) => call('POST', base, { body: { tenant_id, slug: 'shop' } })
  assert.equal((await create('acme')).status, 201)
  const taken = await create('acme')
  assert.equal(taken.status, 409)
  assert.equal(taken.body.code, 'slug_taken')
  assert.equal((await create('globex')).status, 201)
})

test('slugs and other fields outside their bounds are 422 and named', async t => {
  const { call, tokens } = await setup(t)
  const token = await tokens.tenant('acme')
  const bad: [object, string][] = [
    [{}, '/slug'],
    [{ slug: '' }, '/slug'],
    [{ slug: 'Shop' }, '/slug'],
    [{ slug: '-shop' }, '/slug'],
    [{ slug: 'shop-' }, '/slug'],
    [{ slug: 'a'.repeat(64) }, '/slug'],
    [{ slug: 'shop\n' }, '/slug'],
    [{ slug: null }, '/slug'],
    [{ slug: 12 }, '/slug'],
    [{ slug: 'shop', region: 'New York' }, '/region'],
    [{ slug: 'shop', llm_mode: '' }, '/llm_mode'],
    [{ slug: 'shop', display_name: '' }, '/display_name'],
    [{ slug: 'shop', display_name: 'x'.repeat(256) }, '/display_name'],
    [{ slug: 'shop', template_code: 7 }, '/template_code'],
    [{ slug: 'shop', state: 'trial' }, '/state'],
    [{ slug: 'shop', billing_action_suspended: true }, '/billing_action_suspended'],
  ]
  for (const [body, pointer] of bad) {
    const answer = await call('POST', base, { token, body })
    assert.equal(answer.status, 422, JSON.stringify(body))
    assert.ok(
      answer.body.errors.some((error: { pointer: string }) => error.pointer === pointer),
      answer.text,
    )
  }
  for (const slug of ['a', '0', 'a-b', 'a'.repeat(63)])
    assert.equal((await call('POST', base, { token, body: { slug } })).status, 201, slug)
})

test('whose a new deployment is: the caller’s tenant, or any for a platform_admin, who must name one without a tenant', async t => {
  const { call, tokens } = await setup(t)
  const create = (token: string, tenant_id?: string) =>
    call('POST', base, { token, body: { slug: `s${Math.random().toString(36).slice(2, 10)}`, tenant_id } })
  const member = await tokens.tenant('acme')
  assert.equal((await create(member)).body.data.tenant_id, 'acme')
  assert.equal((await create(member, 'acme')).status, 201)
  assert.equal((await create(member, 'globex')).status, 403)
  const nameless = await create(await tokens.admin())
  assert.equal(nameless.status, 422)
  assert.equal(nameless.body.errors[0].pointer, '/tenant_id')
  assert.equal((await create(await tokens.admin(), 'globex')).body.data.tenant_id, 'globex')
  assert.equal((await create(await tokens.admin({ tenant_id: 'platform' }))).body.data.tenant_id, 'platform')
})

test('the list is filtered by state, region, slug and, for a platform_admin, tenant', async t => {
  const bundle = await setup(t)
  const shop = await deployment(bundle, 'acme', { slug: 'shop', region: 'fra1' })
  const blog = await deployment(bundle, 'acme', { slug: 'blog' })
  const other = await deployment(bundle, 'globex', { slug: 'shop' })
  await move(bundle, blog.id, 'paused')
  const ids = async (query: string, token?: string) => {
    const { body, status, text } = await bundle.call('GET', `${base}?${query}`, { token })
    assert.equal(status, 200, text)
    return body.data.map((row: { id: string }) => row.id)
  }
  assert.deepEqual(await ids(''), [shop.id, blog.id, other.id])
  assert.deepEqual(await ids('state=paused'), [blog.id])
  assert.deepEqual(await ids('region=fra1'), [shop.id])
  assert.deepEqual(await ids('slug=shop'), [shop.id, other.id])
  assert.deepEqual(await ids('slug=shop&tenant_id=globex'), [other.id])
  const acme = await bundle.tokens.tenant('acme')
  assert.deepEqual(await ids('', acme), [shop.id, blog.id])
  assert.deepEqual(await ids('tenant_id=acme', acme), [shop.id, blog.id])
  assert.equal((await bundle.call('GET', `${base}?tenant_id=globex`, { token: acme })).status, 403)
})

test('the list is paged by cursor, each row once', async t => {
  const bundle = await setup(t)
  const made: string[] = []
  for (let i = 0; i < 7; i++) made.push((await deployment(bundle)).id)
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await bundle.call('GET', `${base}?limit=3${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.data.map((row: { id: string }) => row.id))
    cursor = body.next_cursor
    if (seen.length === 3) made.push((await deployment(bundle)).id)
  }
  assert.deepEqual(seen, made)
})

test('a tenant may rename a deployment and change its template; the billing override is an operator’s', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle)
  const token = await bundle.tokens.tenant('acme')
  const changed = await bundle.call('PATCH', `${base}/${id}`, {
    token,
    body: { display_name: 'The Shop', template_code: 'rails', template_version: '7' },
  })
  assert.equal(changed.status, 200)
  assert.deepEqual(
    [changed.body.data.display_name, changed.body.data.template_code, changed.body.data.template_version],
    ['The Shop', 'rails', '7'],
  )
  assert.equal(
    (await bundle.call('PATCH', `${base}/${id}`, { token, body: { template_code: null } })).body.data
      .template_code,
    null,
  )
  const override = { billing_action_suspended: true }
  assert.equal((await bundle.call('PATCH', `${base}/${id}`, { token, body: override })).status, 403)
  assert.equal(
    (await bundle.call('PATCH', `${base}/${id}`, { body: override })).body.data.billing_action_suspended,
    true,
  )
  for (const body of [{ slug: 'x' }, { state: 'paused' }, { tenant_id: 'globex' }]) {
    assert.equal((await bundle.call('PATCH', `${base}/${id}`, { body })).status, 422)
  }
})

test('another tenant’s deployment cannot be told from one that does not exist, on any route', async t => {
  const bundle = await setup(t)
  const { id } = await deployment(bundle, 'globex')
  const token = await bundle.tokens.tenant('acme')
  const unknown = '01980000-0000-7000-8000-000000000000'
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['PATCH', '', { display_name: 'mine' }],
    ['POST', '/transition', { state: 'paused' }],
    ['POST', '/subscribe', { plan_code: 'starter' }],
    ['POST', '/change-plan-version', { plan_code: 'starter' }],
  ]
  for (const [method, path, body] of requests) {
    const answers = []
    for (const one of [id, unknown]) {
      const answer = await bundle.call(method, `${base}/${one}${path}`, { token, body })
      assert.equal(answer.status, 404, `${method} ${path}`)
      answers.push(comparable(answer))
    }
    assert.deepEqual(answers[0], answers[1], `${method} ${path}`)
  }
  assert.equal((await bundle.call('GET', `${base}/${id}`)).body.data.state, 'active')
})

function comparable({ body, headers }: Awaited<ReturnType<Bundle['call']>>) {
  const { request_id: _id, ...rest } = body
  const varying = new Set(['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset'])
  return { body: rest, headers: [...headers].filter(([name]) => !varying.has(name)) }
}

test('the map of states is there for every caller that may read deployments', async t => {
  const { call, tokens } = await setup(t)
  const path = '/api/v1/deployments/lifecycle'
  const { status, body } = await call('GET', path, { token: await tokens.tenant('acme') })
  assert.equal(status, 200)
  assert.equal(body.data.first_state, 'active')
  assert.deepEqual(body.data.states.at(-1), { state: 'archived', subscription_status: null, transitions: [] })
  assert.deepEqual(body.data.states[1].transitions[1], {
    to: 'paused',
    operator_only: false,
    billing_action: false,
  })
  assert.equal((await call('GET', path, { token: null })).status, 401)
})
