// Invitations accepted, roles deleted and users suspended at the same time. On PostgreSQL alone: PGlite runs one statement
// at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsPostgres } from '../support/engine.ts'
import { setup } from '../support/setup.ts'

const ROUNDS = 60
const env = { RATE_LIMIT_PER_MINUTE: '0' }
const admin = '/api/v1/admin'
const session = '/api/v1/session'

test(
  'of two who accept one invitation at once one becomes the user, and the other finds nothing',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    const callers = [await tokens.tenant('acme', { sub: 'a' }), await tokens.tenant('acme', { sub: 'b' })]
    for (let round = 1; round <= ROUNDS; round++) {
      const email = `round-${round}@example.com`
      const made = await call('POST', `${admin}/invitations`, { body: { email, tenant_id: 'acme' } })
      const body = { token: made.body.data.token }
      const accepts = callers.map(token => call('POST', '/api/v1/invitations/accept', { token, body }))
      const [won, lost] = (await Promise.all(accepts)).sort((a, b) => a.status - b.status)
      assert.deepEqual([won!.status, lost!.status], [200, 404], `${won!.text} ${lost!.text}`)
      const { body: after } = await call('GET', made.headers.get('location')!)
      assert.equal(after.data.accepted_by, won!.body.data.id)
      const { body: users } = await call('GET', `${admin}/users?email=${email}`)
      assert.deepEqual(
        users.data.map((user: { id: string }) => user.id),
        [won!.body.data.id],
      )
    }
  },
)

test('an invitation that is revoked while it is accepted is one or the other', needsPostgres, async t => {
  const { call, tokens } = await setup(t, { env })
  for (let round = 1; round <= ROUNDS; round++) {
    const sub = `user-${round}`
    const token = await tokens.tenant('acme', { sub })
    const made = await call('POST', `${admin}/invitations`, {
      body: { email: `${sub}@example.com`, tenant_id: 'acme' },
    })
    const path = made.headers.get('location')!
    const [accepted, revoked] = await Promise.all([
      call('POST', '/api/v1/invitations/accept', { token, body: { token: made.body.data.token } }),
      call('DELETE', path),
    ])
    const won = accepted.status === 200
    assert.deepEqual([accepted.status, revoked.status], won ? [200, 409] : [404, 204])
    assert.equal((await call('GET', path)).body.data.status, won ? 'accepted' : 'revoked')
    assert.equal((await call('GET', `${admin}/users/${sub}`)).status, won ? 200 : 404)
  }
})

test(
  'of invitations of one address at once one is made, also in place of one that has expired',
  needsPostgres,
  async t => {
    const { call, clock } = await setup(t, { env })
    for (let round = 1; round <= ROUNDS; round++) {
      const body = { email: 'ann@example.com', tenant_id: 'acme' }
      const invite = () => call('POST', `${admin}/invitations`, { body })
      const answers = await Promise.all(Array.from({ length: 4 }, invite))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
      for (const { status, body } of answers) if (status === 409) assert.equal(body.code, 'already_invited')
      clock.advance(7 * 86_400_000)
    }
  },
)

test(
  'a role that is given while it is deleted is deleted first and unknown, or given first and stays',
  needsPostgres,
  async t => {
    const { call } = await setup(t, { env })
    for (let round = 1; round <= ROUNDS; round++) {
      const role = `role-${round}`
      await call('POST', `${admin}/roles`, { body: { name: role, permissions: [] } })
      const [user, invitation, deleted] = await Promise.all([
        call('POST', `${admin}/users`, { body: { id: role, tenant_id: 'acme', role } }),
        call('POST', `${admin}/invitations`, {
          body: { email: `${role}@example.com`, tenant_id: 'acme', role },
        }),
        call('DELETE', `${admin}/roles/${role}`),
      ])
      const given = [user, invitation].some(({ status }) => status === 201)
      assert.equal(deleted.status, given ? 409 : 204, deleted.text)
      for (const { status, body, text } of [user, invitation])
        assert.ok(status === 201 || (status === 422 && body.errors[0].pointer === '/role'), text)
    }
  },
)

test(
  'a user who is suspended while at work is refused from the answer to the suspension on',
  needsPostgres,
  async t => {
    const { call, tokens } = await setup(t, { env })
    for (let round = 1; round <= ROUNDS; round++) {
      const sub = `user-${round}`
      const token = await tokens.tenant('acme', { sub })
      const path = `${admin}/users/${sub}`
      await call('POST', `${admin}/users`, { body: { id: sub, tenant_id: 'acme' } })
      const use = async () => (await call('GET', session, { token })).status
      const suspend = async () => {
        const { status } = await call('PATCH', path, { body: { status: 'suspended' } })
        return [status, await use()]
      }
      const [uses, suspended] = await Promise.all([Promise.all(Array.from({ length: 6 }, use)), suspend()])
      assert.deepEqual(suspended, [200, 403])
      for (const status of uses) assert.ok(status === 200 || status === 403, String(status))
    }
  },
)

test('of operators who suspend each other at once one stays, listed or not', needsPostgres, async t => {
  const { call, ctx, tokens } = await setup(t, { env })
  const subs = ['eve', 'bob', 'cid']
  const callers = await Promise.all(subs.map(sub => tokens.admin({ sub })))
  for (const listed of [true, false]) {
    for (let round = 1; round <= ROUNDS / 3; round++) {
      await ctx.db.deleteFrom('users').execute()
      if (listed)
        for (const id of subs) await call('POST', `${admin}/users`, { body: { id, tenant_id: 'platform' } })
      const suspend = (by: number) => {
        const id = subs[(by + 1) % subs.length]!
        const body = { status: 'suspended' }
        return listed
          ? call('PATCH', `${admin}/users/${id}`, { token: callers[by], body })
          : call('POST', `${admin}/users`, {
              token: callers[by],
              body: { id, tenant_id: 'platform', ...body },
            })
      }
      const answers = await Promise.all(subs.map((_, by) => suspend(by)))
      const rows = await ctx.db.selectFrom('users').select(['user_id', 'status']).execute()
      const suspended = rows.filter(({ status }) => status === 'suspended').map(({ user_id }) => user_id)
      assert.equal(suspended.length, answers.filter(({ status }) => status < 300).length)
      assert.ok(suspended.length > 0 && suspended.length < subs.length, suspended.join())
      for (const { status, body } of answers)
        if (status >= 300) assert.match(`${status} ${body.code}`, /^(403 user_suspended|409 last_operator)$/)
    }
  }
})
