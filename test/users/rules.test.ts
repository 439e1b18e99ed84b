// The pure rules of roles, users and invitations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deps } from '../../src/deps.ts'
import { expiryOf, hashToken, newToken, statusAt } from '../../src/features/invitations/invitation.ts'
import {
  BUILT_IN,
  isBuiltIn,
  OPERATOR_PERMISSIONS,
  PERMISSIONS,
  permissionsOf,
  refuseBuiltIn,
  TENANT_PERMISSIONS,
  unknownRole,
  withBuiltIn,
} from '../../src/features/roles/role.ts'
import { accessOf } from '../../src/features/users/access.ts'
import type { UserRow } from '../../src/features/users/index.ts'
import { callerAccess } from '../../src/features/users/index.ts'
import { isSelf, lessens, oneUser, ownUser } from '../../src/features/users/user.ts'
import { AppError } from '../../src/kernel/errors.ts'
import {
  type Caller,
  homeTenant,
  inOrder,
  isRoleName,
  mayOperate,
  neededFor,
  permissionFor,
  permits,
  refuseSuspended,
  refuseUnpermitted,
  tenantsOf,
  unionOf,
} from '../../src/kernel/http/caller.ts'

const now = new Date('2026-11-15T12:00:00.000Z')
const caller = (tenantId: string | null, sub: string, ...roles: string[]): Caller => ({
  sub,
  tenantId,
  roles,
  platformAdmin: roles.includes('platform_admin'),
  via: 'token',
  credentialId: 'jti-1',
  expiresAt: '2026-11-15T13:00:00.000Z',
  operator: false,
  limits: [],
})

test('GET and HEAD need read, everything else write, of the first segment after the version', () => {
  const url = '/api/v1/inventory/:id'
  assert.deepEqual(
    ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method => permissionFor(method, url)),
    ['inventory:read', 'inventory:read', ...Array(5).fill('inventory:write')],
  )
  assert.equal(permissionFor('GET', '/api/v1/users/:user_id/api_keys'), 'users:read')
  assert.equal(permissionFor('GET', '/api/v1/admin/audit_log/:id'), 'audit_log:read')
  const needed = (guard: 'caller' | 'operator' | 'platform_admin', permission?: string | false) =>
    neededFor(guard, permission, 'POST', '/api/v1/drift/:id/accept')
  assert.deepEqual([needed('caller'), needed('operator')], ['drift:write', 'drift:write'])
  assert.equal(needed('operator', 'drift:accept'), 'drift:accept')
  assert.deepEqual(
    [needed('caller', false), needed('platform_admin'), needed('platform_admin', 'x')],
    [null, null, null],
  )
})

test('a permission covers itself, and that of every area its own way alone', () => {
  assert.ok(permits(['catalog:read', 'inventory:read'], 'inventory:read'))
  assert.ok(permits(['*:write'], 'inventory:write'))
  for (const other of [[], ['inventory:write'], ['*:write'], ['catalog:read'], ['inventory']])
    assert.ok(!permits(other, 'inventory:read'), String(other))
  assert.ok(permits(['sagas:run'], 'sagas:run'))
  assert.ok(!permits(['*:run', '*:read', '*:write'], 'sagas:run'))
})

const rights = (kind: 'member' | 'operator' | 'platform_admin', ...limits: string[][]) => ({
  platformAdmin: kind === 'platform_admin',
  operator: kind === 'operator',
  limits,
})

test('every limit must permit a request, and the refusal names what is missing', () => {
  const refuse =
    (given: ReturnType<typeof rights>, guard: 'caller' | 'operator' | 'platform_admin' = 'caller') =>
    () =>
      refuseUnpermitted(given, guard, guard === 'platform_admin' ? null : 'projects:read')
  for (const kind of ['member', 'operator'] as const) {
    assert.doesNotThrow(refuse(rights(kind, ['projects:read'], ['*:read', 'users:write'])))
    for (const short of [[[]], [['*:read'], []], [['users:read'], ['*:read']]])
      assert.throws(refuse(rights(kind, ...short)), {
        kind: 'forbidden',
        code: 'forbidden',
        message: 'Your role does not permit this: it lacks projects:read.',
      })
    assert.throws(refuse(rights(kind, ['*:read', '*:write']), 'platform_admin'), {
      code: 'forbidden',
      message: 'This is for a platform_admin.',
    })
  }
  assert.doesNotThrow(refuse(rights('member')))
  assert.doesNotThrow(refuse(rights('operator', ['projects:read']), 'operator'))
  assert.throws(refuse(rights('operator', ['*:write']), 'operator'), /it lacks projects:read/)
  for (const member of [rights('member'), rights('member', ['projects:read'])])
    assert.throws(refuse(member, 'operator'), {
      code: 'forbidden',
      message: 'This is for operators with projects:read, and for a platform_admin.',
    })
  for (const guard of ['caller', 'operator', 'platform_admin'] as const)
    assert.doesNotThrow(refuse(rights('platform_admin'), guard))
  assert.doesNotThrow(() => refuseUnpermitted(rights('operator', []), 'caller', null))
  assert.doesNotThrow(() => refuseSuspended({ suspended: false }))
  assert.throws(() => refuseSuspended({ suspended: true }), {
    kind: 'forbidden',
    code: 'user_suspended',
    message: 'This user is suspended.',
  })
})

test('what operators do is for a platform_admin and for operators with the permission; no tenant’s role gives it', () => {
  const may = (given: ReturnType<typeof rights>) => mayOperate(given, 'deployments:operate')
  assert.deepEqual(
    [
      may(rights('platform_admin')),
      may(rights('operator', ['deployments:operate'])),
      may(rights('operator', ['deployments:operate'], ['*:write'])),
      may(rights('operator', ['*:write'])),
      may(rights('member', ['deployments:operate'])),
      may(rights('member')),
    ],
    [true, true, false, false, false, false],
  )
})

test('a caller’s permissions are those that it has use of', () => {
  assert.deepEqual(permissionsOf(rights('member')), [...TENANT_PERMISSIONS])
  assert.deepEqual(
    permissionsOf(rights('platform_admin')),
    inOrder([...TENANT_PERMISSIONS, ...OPERATOR_PERMISSIONS]),
  )
  const limits = ['deployments:operate', 'deployments:read', 'drift:read']
  assert.deepEqual(permissionsOf(rights('member', limits)), ['deployments:read'])
  assert.deepEqual(permissionsOf(rights('operator', limits)), limits)
  assert.deepEqual(permissionsOf(rights('operator', limits, ['*:read'])), ['deployments:read', 'drift:read'])
})

test('the permissions are those that tenants and operators have use of, and read and write of all', () => {
  for (const permission of [
    '*:read',
    '*:write',
    'inventory:read',
    'drift:accept',
    'sagas:run',
    'billing:read',
  ])
    assert.ok(PERMISSIONS.includes(permission), permission)
  assert.deepEqual(PERMISSIONS, inOrder(PERMISSIONS))
  assert.equal(PERMISSIONS.length, 2 + TENANT_PERMISSIONS.length + OPERATOR_PERMISSIONS.length)
  assert.deepEqual(inOrder(['b', 'a', 'b']), ['a', 'b'])
})

test('a role’s name is 1 to 64 small letters, digits, dashes and underscores', () => {
  for (const good of ['a', 'read-only_2', '0', '_', '-', 'x'.repeat(64)]) assert.ok(isRoleName(good), good)
  for (const bad of ['', 'x'.repeat(65), 'Admin', 'a b', 'a\n', ' a', 'é', 'a\0'])
    assert.ok(!isRoleName(bad), bad)
})

test('registered roles permit what they permit together; none, or one that is not registered, holds nothing back', () => {
  const registered = { viewer: ['*:read'], seller: ['catalog:read', 'deployments:write', '*:read'], idle: [] }
  assert.deepEqual(unionOf(['viewer'], registered), ['*:read'])
  assert.deepEqual(unionOf(['seller', 'viewer', 'idle'], registered), [
    '*:read',
    'catalog:read',
    'deployments:write',
  ])
  assert.deepEqual(unionOf(['idle'], registered), [])
  assert.equal(unionOf([], registered), null)
  assert.equal(unionOf(['viewer', 'member'], registered), null)
  assert.equal(unionOf(['constructor'], registered), null)
})

test('the token’s roles and the role given here are two limits; a platform_admin has none, but can be suspended', () => {
  const registered = { viewer: ['*:read'] }
  const known = { suspended: false, given: ['users:read'], registered }
  const access = (who: Caller, also: Partial<typeof known> | { given: null; registered?: null } = {}) =>
    accessOf(who, { ...known, ...also }, 'platform')
  const viewer = caller('t', 'u', 'viewer')
  assert.deepEqual(access(viewer), {
    suspended: false,
    operator: false,
    limits: [['*:read'], ['users:read']],
  })
  assert.deepEqual(access(caller('t', 'u', 'other')).limits, [['users:read']])
  assert.deepEqual(access(viewer, { given: null }).limits, [['*:read']])
  assert.deepEqual(access(viewer, { given: null, registered: null }).limits, [])
  assert.deepEqual(access(caller('platform', 'u', 'viewer', 'platform_admin'), { suspended: true }), {
    suspended: true,
    operator: false,
    limits: [],
  })
})

test('an operator is of the platform’s tenant, has a role, and all its roles are registered', () => {
  const registered = { viewer: ['*:read'], idle: [] }
  const isOperator = (tenant: string, given: string[] | null, ...roles: string[]) =>
    accessOf(caller(tenant, 'u', ...roles), { suspended: false, given, registered }, 'platform').operator
  assert.ok(isOperator('platform', null, 'viewer'))
  assert.ok(isOperator('platform', null, 'viewer', 'idle'))
  assert.ok(isOperator('platform', ['users:read'], 'viewer'))
  assert.ok(isOperator('platform', ['users:read']))
  assert.ok(!isOperator('platform', null))
  assert.ok(!isOperator('platform', null, 'member'))
  assert.ok(!isOperator('platform', ['users:read'], 'member'))
  assert.ok(!isOperator('platform', null, 'viewer', 'member'))
  assert.ok(!isOperator('acme', null, 'viewer'))
})

test('a key is held back by its own roles and by those of its owner’s newest token', () => {
  const registered = { viewer: ['*:read'], seller: ['*:write'] }
  const access = (tenant: string, ownerRoles: string[], ...roles: string[]) =>
    accessOf(
      { ...caller(tenant, 'u', ...roles), ownerRoles },
      { suspended: false, given: null, registered },
      'platform',
    )
  assert.deepEqual(access('acme', ['seller'], 'viewer').limits, [['*:read'], ['*:write']])
  assert.deepEqual(access('acme', ['seller'], 'member').limits, [['*:write']])
  assert.deepEqual(access('acme', ['member'], 'viewer').limits, [['*:read']])
  assert.deepEqual(access('acme', ['platform_admin'], 'viewer').limits, [['*:read']])
  assert.deepEqual(access('platform', ['viewer'], 'viewer', 'seller').operator, true)
  assert.deepEqual(access('platform', ['platform_admin'], 'viewer').operator, true)
  for (const owner of [['member'], ['viewer', 'member'], []])
    assert.equal(access('platform', owner, 'viewer').operator, false, String(owner))
})

test('a user is of its token’s tenant; a platform_admin is of the platform’s too', () => {
  const [user, admin] = [caller('acme', 'ada'), caller('acme', 'ada', 'platform_admin')]
  const bare = caller(null, 'ada', 'platform_admin')
  assert.deepEqual([homeTenant(user, 'platform'), homeTenant(bare, 'platform')], ['acme', 'platform'])
  assert.deepEqual(tenantsOf(user, 'platform'), ['acme'])
  assert.deepEqual(tenantsOf(admin, 'platform'), ['acme', 'platform'])
  assert.deepEqual(tenantsOf(bare, 'platform'), ['platform'])
  assert.deepEqual(tenantsOf({ ...admin, ownerTenant: 'globex' }, 'platform'), ['acme', 'globex', 'platform'])
  assert.deepEqual(tenantsOf({ ...user, ownerTenant: 'acme' }, 'platform'), ['acme'])
  assert.deepEqual(tenantsOf(caller('platform', 'ada', 'platform_admin'), 'platform'), ['platform'])
  const self = (user_id: string, tenant_id: string) => isSelf(admin, { user_id, tenant_id }, 'platform')
  assert.deepEqual(
    [self('ada', 'acme'), self('ada', 'platform'), self('ada', 'other'), self('bob', 'acme')],
    [true, true, false, false],
  )
})

test('suspending, and any other role than before, are not for oneself; the rest is', () => {
  assert.ok(lessens({ status: 'suspended' }, null))
  for (const [role, had] of [
    ['viewer', null],
    ['viewer', 'seller'],
    [null, 'viewer'],
  ] as const)
    assert.ok(lessens({ role }, had))
  assert.ok(!lessens({}, 'viewer'))
  assert.ok(!lessens({ status: 'active', role: 'viewer' }, 'viewer'))
  assert.ok(!lessens({ role: null }, null))
  const { kind, code, message } = ownUser()
  assert.deepEqual(
    [kind, code, message],
    [
      'conflict',
      'own_user',
      'Nobody suspends or deletes themselves, or changes their own role: ask another platform_admin.',
    ],
  )
})

test('an id that several tenants have is ambiguous, and they are named', () => {
  const row = (tenant_id: string) => ({ tenant_id }) as UserRow
  const acme = row('acme')
  assert.equal(oneUser([acme]), acme)
  assert.throws(() => oneUser([]), { kind: 'not_found' })
  assert.throws(() => oneUser([acme, row('other')]), {
    code: 'user_ambiguous',
    message: 'Several tenants have a user of this id: name one with ?tenant_id=.',
    extra: { tenant_ids: ['acme', 'other'] },
  })
})

test('the built-in role stands in its place among the others, on the page that it belongs to', () => {
  const at = now.toISOString()
  const row = (name: string) => ({ name, description: null, permissions: [], created_at: at, updated_at: at })
  const names = (rows: string[], after = '') => withBuiltIn(rows.map(row), after).map(({ name }) => name)
  assert.deepEqual(names(['a', 'z']), ['a', 'platform_admin', 'z'])
  assert.deepEqual(names(['z']), ['platform_admin', 'z'])
  assert.deepEqual(names(['a', 'b']), ['a', 'b', 'platform_admin'])
  assert.deepEqual(names([]), ['platform_admin'])
  assert.deepEqual(names(['z'], 'platform_admin'), ['z'])
  assert.deepEqual(names(['z'], 'q'), ['z'])
  assert.deepEqual(withBuiltIn([row('z')], 'q'), [{ ...row('z'), built_in: false }])
  assert.deepEqual(BUILT_IN, {
    name: 'platform_admin',
    description:
      'Sees and does everything, in all tenants. The issuer gives it; no permission holds it back.',
    permissions: ['*:*'],
    built_in: true,
    created_at: null,
    updated_at: null,
  })
  assert.deepEqual([isBuiltIn('platform_admin'), isBuiltIn('platform')], [true, false])
})

test('platform_admin is nobody’s to give here, and a role must be registered', () => {
  for (const fine of [null, undefined, 'viewer']) assert.doesNotThrow(() => refuseBuiltIn(fine))
  const refused = (message: string) => (error: unknown) => {
    assert.ok(error instanceof AppError && error.kind === 'invalid')
    assert.equal(error.message, 'The body is not acceptable.')
    assert.deepEqual(error.errors, [{ pointer: '/role', message }])
    return true
  }
  assert.throws(() => refuseBuiltIn('platform_admin'), refused('is given by the issuer of tokens alone'))
  assert.ok(refused('is not a registered role')(unknownRole()))
})

test('an invitation lives for 7 days unless it says otherwise, and at most 90', () => {
  assert.equal(expiryOf(undefined, now), '2026-11-22T12:00:00.000Z')
  assert.equal(expiryOf(null, now), '2026-11-22T12:00:00.000Z')
  assert.equal(expiryOf('2026-11-15T14:00:00+01:00', now), '2026-11-15T13:00:00.000Z')
  assert.equal(expiryOf('2026-11-15T12:00:00.001Z', now), '2026-11-15T12:00:00.001Z')
  assert.equal(expiryOf('2027-02-13T12:00:00Z', now), '2027-02-13T12:00:00.000Z')
  for (const bad of ['2026-11-15T12:00:00Z', '2027-02-13T12:00:00.001Z', '2026-11-14T00:00:00Z', 'soon'])
    assert.equal(expiryOf(bad, now), null, bad)
})

test('a pending invitation is expired from the moment it says; any other is what it is', () => {
  const at = (status: 'pending' | 'accepted' | 'revoked' | 'expired', expires_at: string) =>
    statusAt({ status, expires_at }, now)
  assert.equal(at('pending', '2026-11-15T12:00:00.001Z'), 'pending')
  assert.equal(at('pending', '2026-11-15T12:00:00.000Z'), 'expired')
  for (const status of ['accepted', 'revoked', 'expired'] as const)
    assert.equal(at(status, '2026-11-01T00:00:00.000Z'), status)
})

test('a token is inv_ and 43 characters of base62, and is kept as a SHA-256', () => {
  const tokens = new Set(Array.from({ length: 100 }, newToken))
  assert.equal(tokens.size, 100)
  for (const token of tokens) assert.match(token, /^inv_[0-9A-Za-z]{43}$/)
  assert.equal(hashToken('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

const nothing = { suspended: false, given: null, registered: null, keys_told_at: null }

/** A directory whose looks are counted, and answered when the test says so. */
function directory() {
  let time = now.getTime()
  const looks: unknown[][] = []
  let answer: () => Promise<unknown[]> = async () => [nothing]
  const kernel = {
    clock: { now: () => new Date(time) },
    platformTenantId: 'platform',
    db: {
      executeQuery: async ({ parameters }: { parameters: unknown[] }) => {
        looks.push(parameters)
        return { rows: await answer() }
      },
    },
  } as unknown as Deps
  return {
    looks,
    access: callerAccess(kernel),
    advance: (ms: number) => {
      time += ms
    },
    answers: (next: typeof answer) => {
      answer = next
    },
  }
}

test('a caller is looked up once in five seconds, whoever asks together shares the look, and a change forgets it', async () => {
  const { looks, access, advance, answers } = directory()
  const alice = caller('acme', 'alice', 'viewer', 'No role')
  await Promise.all([access.of(alice), access.of({ ...alice }), access.of(alice)])
  assert.deepEqual(looks, [
    ['alice', 'acme', ['acme'], ['viewer'], 'platform', '2026-11-15T12:00:00.000Z', ['viewer', 'No role']],
  ])
  advance(4_999)
  await access.of(alice)
  assert.equal(looks.length, 1)
  advance(1)
  await access.of(alice)
  assert.equal(looks.length, 2)
  advance(-5_000)
  await access.of(alice)
  assert.equal(looks.length, 3, 'a clock that was set back keeps nobody’s access')

  for (const other of [caller('other', 'alice', 'viewer', 'No role'), caller('acme', 'alice', 'viewer')])
    await access.of(other)
  assert.equal(looks.length, 5, 'another tenant or another role is another caller')

  const { promise, resolve } = Promise.withResolvers<unknown[]>()
  answers(() => promise)
  access.forget()
  const before = access.of(alice)
  access.forget()
  answers(async () => [{ ...nothing, suspended: true }])
  assert.equal((await access.of(alice)).suspended, true)
  resolve([nothing])
  assert.equal((await before).suspended, false)
  assert.equal((await access.of(alice)).suspended, true, 'a look from before the change is not remembered')
})

test('a look that fails refuses whoever waited for it, and is taken anew', async () => {
  const { looks, access, answers } = directory()
  const alice = caller('acme', 'alice')
  answers(async () => {
    throw new Error('the database is away')
  })
  const asked = await Promise.allSettled([access.of(alice), access.of(alice)])
  assert.deepEqual(
    asked.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(looks.length, 1)
  answers(async () => [nothing])
  assert.deepEqual(await access.of(alice), { suspended: false, operator: false, limits: [] })
  assert.equal(looks.length, 2)
})

test('ten thousand callers are remembered; the next takes the place of the oldest', async () => {
  const { looks, access } = directory()
  const user = (i: number) => caller('acme', `user-${i}`)
  for (let i = 0; i < 10_000; i++) await access.of(user(i))
  await access.of(user(0))
  assert.equal(looks.length, 10_000)
  await access.of(user(10_000))
  await access.of(user(1))
  assert.equal(looks.length, 10_001)
  await access.of(user(0))
  assert.equal(looks.length, 10_002)
})
