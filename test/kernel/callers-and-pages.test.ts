// Who may see what, which origins may call, and how a listing goes on from page to page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { originRule } from '../../src/kernel/http/auth.ts'
import {
  actingRole,
  type Caller,
  callerOf,
  refuseForeignTenant,
  scopeOf,
} from '../../src/kernel/http/caller.ts'
import { varyByAccept } from '../../src/kernel/http/csv.ts'
import { cursorOf, type KeyPart, PageQuery, withNextLink } from '../../src/kernel/http/pages.ts'

const user: Caller = {
  sub: 'ada',
  tenantId: 'acme',
  roles: ['member', 'billing'],
  platformAdmin: false,
  via: 'token',
  credentialId: 'jti-1',
  expiresAt: '2026-11-15T13:00:00.000Z',
  operator: false,
  limits: [],
}
const operator: Caller = { ...user, tenantId: 'platform', operator: true, limits: [['billing:read']] }
const admin: Caller = { ...user, tenantId: null, roles: ['x', 'platform_admin'], platformAdmin: true }

test('a platform_admin and an operator see all tenants, a user one, and without a tenant nobody gets this far', () => {
  assert.deepEqual(scopeOf(admin), { allTenants: true })
  assert.deepEqual(scopeOf(operator), { allTenants: true })
  assert.deepEqual(scopeOf(user), { allTenants: false, tenantId: 'acme' })
  assert.throws(() => scopeOf({ ...user, tenantId: null }), /without a tenant passed the guard/)
  const request = (caller: Caller | undefined) =>
    ({ caller, routeOptions: { url: '/x' } }) as unknown as FastifyRequest
  assert.equal(callerOf(request(user)), user)
  assert.throws(() => callerOf(request(undefined)), /\/x was reached without its guard/)
})

test('events name the platform_admin’s role, or else the first of the caller’s', () => {
  assert.deepEqual(
    [actingRole(admin), actingRole(user), actingRole({ ...user, roles: [] })],
    ['platform_admin', 'member', null],
  )
})

test('a filter may name one’s own tenant, and an operator’s any', () => {
  for (const [caller, tenant] of [
    [user, undefined],
    [user, 'acme'],
    [admin, 'globex'],
    [operator, 'globex'],
  ] as const)
    refuseForeignTenant(caller, tenant)
  assert.throws(() => refuseForeignTenant(user, 'globex'), {
    kind: 'forbidden',
    message: 'The tenant_id filter is for operators.',
  })
})

test('browsers may call from the development origin and from https subdomains of the one domain', () => {
  const allowed = originRule('http://localhost:5173', 'example.com')
  const good = ['http://localhost:5173', 'https://app.example.com', 'https://a.b-c.example.com']
  const bad = [
    undefined,
    '',
    'http://localhost:5174',
    'https://example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.com',
    'https://app.exampleXcom',
    'https://evil.com/https://app.example.com',
    'xhttps://app.example.com',
    'https://-a.example.com',
  ]
  for (const origin of good) assert.equal(allowed(origin), true, origin)
  for (const origin of bad) assert.equal(allowed(origin), false, origin)
  const alone = originRule('http://localhost:5173', undefined)
  assert.deepEqual([alone('http://localhost:5173'), alone('https://app.example.com')], [true, false])
})

test('a page shows so many rows, and its cursor is the key of the last one when there are more', () => {
  const cursor = cursorOf('things', ['text', 'integer'])
  const rows = ['a', 'b', 'c', 'd'].map((name, n) => ({ name, n }))
  const page = (limit: number) => cursor.page(rows, limit, row => [row.name, row.n])
  const first = page(3)
  assert.deepEqual(first.data, rows.slice(0, 3))
  assert.deepEqual(cursor.read(first.next_cursor!), ['c', 2])
  assert.deepEqual([page(4).next_cursor, page(5).next_cursor], [null, null])
  assert.equal(cursor.page([], 0, () => []).next_cursor, null)
  // Broken off before the page was full, it goes on from there; a full page goes on from its last row.
  const until = (limit: number) =>
    cursor.read(cursor.page(rows, limit, row => [row.name, row.n], ['m', 9]).next_cursor!)
  assert.deepEqual([until(5), until(3)], [['m', 9], cursor.read(first.next_cursor!)])
  assert.equal(cursor.read(undefined), null)
})

const made = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
const REFUSED = {
  kind: 'invalid',
  message: 'The query is not acceptable.',
  errors: [{ pointer: '?cursor', message: 'is not a cursor of this listing' }],
}

test('a cursor holds what its listing is sorted by, and nothing else is taken for one', () => {
  const good: Record<KeyPart, unknown[]> = {
    uuid: ['01a1de2b-5688-766c-8709-0aa08fd3b0a8'],
    time: ['2026-11-15T12:00:00Z', '2026-11-15T12:00:00.123456Z'],
    date: ['2026-11-15'],
    text: ['', 'x'.repeat(512)],
    integer: [0, -1, Number.MAX_SAFE_INTEGER],
  }
  const bad: Record<KeyPart, unknown[]> = {
    uuid: ['x', 1, null],
    time: [
      1,
      'x2026-11-15T12:00:00Z',
      '2026-11-15T12:00:00Zx',
      '2026-13-15T12:00:00Z',
      '2026-11-15',
      '(x)2026-11-15T12:00:00Z',
      '2026-11-15T12:00:00Z (x)',
    ],
    date: [20261115, 'x2026-11-15', '2026-11-15x', '2026-13-15', '(x)2026-11-15', '2026-11-15 (x)'],
    text: [1, 'x'.repeat(513), 'a\0'],
    integer: ['1', 0.5, null],
  }
  for (const part of Object.keys(good) as KeyPart[]) {
    const { read } = cursorOf('things', [part])
    for (const value of good[part]) assert.deepEqual(read(made('things', value)), [value])
    for (const value of bad[part])
      assert.throws(() => read(made('things', value)), REFUSED, `${part} ${value}`)
  }
  const { read } = cursorOf('things', ['integer', 'integer'])
  for (const cursor of [
    made('others', 1, 2),
    made('things', 1),
    made('things', 1, 2, 3),
    made('things', 1, 'x'),
  ])
    assert.throws(() => read(cursor), REFUSED)
  for (const text of [
    '',
    'x',
    Buffer.from('{}').toString('base64url'),
    Buffer.from('[').toString('base64url'),
  ])
    assert.throws(() => read(text), REFUSED)
})

test('a page has 100 rows unless it is asked for others, and at most 500', () => {
  const { minimum, maximum, default: standard } = PageQuery.limit as unknown as Record<string, number>
  assert.deepEqual([minimum, maximum, standard], [1, 500, 100])
  const { minLength, maxLength } = PageQuery.cursor as unknown as Record<string, number>
  assert.deepEqual([minLength, maxLength], [1, 1024])
})

/** The headers that an answer is given. */
function headers(answer: (reply: FastifyReply) => void, standing: Record<string, string> = {}) {
  const reply = {
    getHeader: (name: string) => standing[name],
    header(name: string, value: string) {
      standing[name] = value
      return reply
    },
  }
  answer(reply as unknown as FastifyReply)
  return standing
}

test('the link to the next page is this one’s with another cursor, and the last page has none', () => {
  const link = (url: string, next_cursor: string | null) =>
    headers(reply => withNextLink({ url } as FastifyRequest, reply, { data: [], next_cursor }))
  assert.deepEqual(link('/api/v1/x?kind=a&cursor=old', 'new'), {
    link: '</api/v1/x?kind=a&cursor=new>; rel="next"',
  })
  assert.deepEqual(link('/api/v1/x', 'new'), { link: '</api/v1/x?cursor=new>; rel="next"' })
  assert.deepEqual(link('/api/v1/x', null), {})
})

test('caches are told that the answer goes by Accept, beside what they were told already', () => {
  assert.deepEqual(headers(varyByAccept), { vary: 'accept' })
  assert.deepEqual(headers(varyByAccept, { vary: 'Origin' }), { vary: 'Origin, accept' })
})
