// The inventory as it was: at a moment, and between two.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordGone } from '../../src/features/inventory/index.ts'
import type { InventoryFilter } from '../../src/features/inventory/list-resources.ts'
import { listResourcesThen } from '../../src/features/inventory/list-then.ts'
import { newId } from '../../src/kernel/ids.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveDeployment, haveProject, rowOf, see, sightingOf } from '../support/sweep.ts'

const DEPLOYMENT = '0199d2a8-1111-7000-8000-00000000000b'

/** A minute passes; the moment after it. */
function moment({ clock }: Bundle): string {
  clock.advance(60_000)
  const at = clock.now().toISOString()
  clock.advance(60_000)
  return at
}

const gone = async (bundle: Bundle, id: string) => {
  bundle.clock.advance(1_000)
  const sighting = await sightingOf(bundle, 'droplet')
  await recordGone(bundle.ctx.db, sighting, { providerIds: [id] })
}

const list = async ({ call }: Bundle, query: string, token?: string) => {
  const answer = await call('GET', `/api/v1/inventory?${query}`, { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data as Record<string, unknown>[]
}

const knownSince = async ({ call }: Bundle, token?: string): Promise<string | null> =>
  (await call('GET', '/api/v1/inventory?limit=1', { token })).body.known_since

const changes = async ({ call }: Bundle, [from, to]: [string, string], more = '', token?: string) => {
  const answer = await call('GET', `/api/v1/inventory/changes?from=${from}&to=${to}${more}`, { token })
  assert.equal(answer.status, 200, answer.text)
  return answer.body.data as Record<string, unknown>[]
}

/** Of rows that were made at once, any may come first. */
const byName = (one: Record<string, unknown>, other: Record<string, unknown>) =>
  String(one.name).localeCompare(String(other.name))

const names = (rows: Record<string, unknown>[]) => rows.map(row => row.name).sort()

test('the inventory is shown as it was at any moment, and at this one as it is', async t => {
  const bundle = await setup(t)
  assert.equal(await knownSince(bundle), null, 'nothing is known yet')
  const before = moment(bundle)
  await see(bundle, 'droplet', [
    { provider_id: 'a', name: 'web', attrs: { size_slug: 's-1' } },
    { provider_id: 'b', name: 'db' },
  ])
  const first = moment(bundle)
  await see(bundle, 'droplet', [
    { provider_id: 'a', name: 'www', status: 'off', attrs: { size_slug: 's-2' } },
  ])
  await gone(bundle, 'b')
  const second = moment(bundle)

  assert.deepEqual(await list(bundle, `at=${before}`), [])
  const [b, a] = (await list(bundle, `at=${first}`)).sort(byName)
  assert.deepEqual(
    [a!.name, a!.status, a!.attrs, a!.last_seen_at],
    ['web', 'active', { size_slug: 's-1' }, first],
  )
  assert.deepEqual([b!.name, b!.deleted_at], ['db', null])
  assert.equal(await knownSince(bundle), a!.first_seen_at, 'how far back one can ask')
  assert.equal(await knownSince(bundle, await bundle.tokens.tenant('acme')), null, 'it had none of these')
  assert.deepEqual(names(await list(bundle, `at=${second}`)), ['www'])
  for (const all of ['', '&include_deleted=true'])
    assert.deepEqual(await list(bundle, `at=${second}${all}`), await list(bundle, `limit=100${all}`))
  for (const [query, found] of [
    ['name=web', ['web']],
    ['name=www', []],
    ['status=active', ['db', 'web']],
    ['kind=volume', []],
    ['kind=droplet&region=nyc3', ['db', 'web']],
  ] as const)
    assert.deepEqual(names(await list(bundle, `at=${first}&${query}`)), found, query)

  const { id } = await rowOf(bundle, 'droplet', 'a')
  const show = (at: string) => bundle.call('GET', `/api/v1/inventory/${id}?at=${at}`)
  const { data } = (await show(first)).body
  assert.deepEqual(
    [data.name, data.events.map((event: { kind: string }) => event.kind)],
    ['web', ['discovered']],
  )
  assert.equal((await show(second)).body.data.events.length, 2)
  assert.equal((await show(before)).status, 404)
})

test('a moment in the future, a time that is none and a span that ends before it begins are refused', async t => {
  const bundle = await setup(t)
  const now = bundle.clock.now().getTime()
  const [past, future] = [new Date(now).toISOString(), new Date(now + 1).toISOString()]
  for (const [query, status] of [
    [`?at=${past}`, 200],
    [`?at=${future}`, 422],
    [`?at=${past}&missing=true`, 422],
    ['?at=yesterday', 422],
    ['?at=0000-01-01T00:00:00Z', 200],
    [`/${newId()}?at=${future}`, 422],
    [`/changes?from=${past}&to=${future}`, 200],
    [`/changes?from=${past}&to=${past}`, 422],
    [`/changes?from=${past}`, 422],
  ] as const)
    assert.equal((await bundle.call('GET', `/api/v1/inventory${query}`)).status, status, query)
})

test('two tenants trade a project back and forth, and neither ever sees the other’s time', async t => {
  const bundle = await setup(t)
  const project = await haveProject(bundle, 'p', 'acme', [['droplet', 'a']])
  await see(bundle, 'droplet', [{ provider_id: 'a', name: 'acme-0' }])
  const { id } = await rowOf(bundle, 'droplet', 'a')
  const times: [owner: string, at: string][] = [['acme', moment(bundle)]]
  for (const round of [1, 2, 3, 4]) {
    const owner = round % 2 === 0 ? 'acme' : 'globex'
    await bundle.call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id: owner } })
    moment(bundle)
    await see(bundle, 'droplet', [{ provider_id: 'a', name: `${owner}-${round}` }])
    times.push([owner, moment(bundle)])
  }
  const tenants = ['acme', 'globex'] as const
  for (const [first, tenant] of tenants.entries()) {
    const token = await bundle.tokens.tenant(tenant)
    const since = (await knownSince(bundle, token))!
    // The first of the times is acme's, the second globex's.
    assert.ok(since < times[first]![1] && (first === 0 || since > times[0]![1]), `${tenant} since ${since}`)
    for (const [n, [owner, at]] of times.entries()) {
      const seen = tenant === owner ? [`${owner}-${n}`] : []
      assert.deepEqual(names(await list(bundle, `at=${at}`, token)), seen, `${tenant} at ${n}`)
      assert.deepEqual(names(await list(bundle, `at=${at}&name=${owner}-${n}`, token)), seen)
      assert.deepEqual(names(await list(bundle, `at=${at}&tenant_id=${tenant}`)), seen)
      const { status } = await bundle.call('GET', `/api/v1/inventory/${id}?at=${at}`, { token })
      assert.equal(status, tenant === owner ? 200 : 404)
    }
    // Between any two moments: what the tenant had at the first, what at the second, and no word of the other.
    for (const [i, [ownerThen, from]] of times.entries())
      for (const [j, [ownerLater, to]] of times.entries()) {
        if (j <= i) continue
        const had = [ownerThen === tenant, ownerLater === tenant]
        const [row, ...more] = await changes(bundle, [from, to], '', token)
        assert.deepEqual(more, [])
        const kind = had[0] ? (had[1] ? 'changed' : 'gone') : had[1] ? 'added' : undefined
        assert.equal(row?.change, kind, `${tenant} from ${i} to ${j}`)
        const other = tenants.find(one => one !== tenant)!
        assert.ok(!JSON.stringify(row ?? {}).includes(other), JSON.stringify(row))
        // When it left is the tenant's; what the other did with it later is not.
        const last = times.findLastIndex(([owner], n) => owner === tenant && n <= j)
        if (kind === 'gone') assert.ok((row!.changed_at as string) < times[last + 1]![1])
        assert.deepEqual(await changes(bundle, [from, to], `&tenant_id=${tenant}`), row ? [row] : [])
      }
  }
  const operators = await changes(bundle, [times[0]![1], times[1]![1]])
  assert.deepEqual(operators[0]!.changes, {
    name: { before: 'acme-0', after: 'globex-1' },
    tenant_id: { before: 'acme', after: 'globex' },
  })
})

test('what changed in a span is net: added, gone, changed, and nothing of what is as it was', async t => {
  const bundle = await setup(t)
  await haveDeployment(bundle, DEPLOYMENT, 'acme')
  const project = await haveProject(bundle, 'p', 'acme', [
    ['droplet', 'tied'],
    ['droplet', 'lost'],
  ])
  const droplet = (id: string, more = {}) => ({ provider_id: id, name: id, ...more })
  await see(
    bundle,
    'droplet',
    ['same', 'back', 'tied', 'lost', 'still'].map(id => droplet(id)),
  )
  const from = moment(bundle)
  await see(bundle, 'droplet', [
    droplet('back', { name: 'other' }),
    droplet('new', { attrs: { vcpus: 1 } }),
    droplet('brief'),
    droplet('tied', { tags: [`deployment:${DEPLOYMENT}`], attrs: { vcpus: 2 } }),
  ])
  await see(bundle, 'droplet', [droplet('back'), droplet('new', { status: 'off' })])
  await gone(bundle, 'brief')
  await gone(bundle, 'lost')
  const to = moment(bundle)
  await see(bundle, 'droplet', [droplet('still', { name: 'later' })])

  const rows = await changes(bundle, [from, to])
  assert.deepEqual(
    rows.map(row => [row.change, row.name]),
    [
      ['changed', 'tied'],
      ['added', 'new'],
      ['gone', 'lost'],
    ],
  )
  assert.deepEqual(
    rows.map(row => row.changes),
    [
      {
        tags: { before: [], after: [`deployment:${DEPLOYMENT}`] },
        deployment_id: { before: null, after: DEPLOYMENT },
        'attrs.vcpus': { before: null, after: 2 },
      },
      null,
      null,
    ],
  )
  const only = async (more: string) => names(await changes(bundle, [from, to], more))
  assert.deepEqual(await only('&change=gone'), ['lost'])
  assert.deepEqual(await only(`&deployment_id=${DEPLOYMENT}`), ['tied'])
  assert.deepEqual(await only(`&project_id=${project}`), ['lost', 'tied'])
  assert.deepEqual(await only(`&project_id=${project}&change=changed`), ['tied'])
  assert.deepEqual(await only('&kind=volume'), [])
  assert.deepEqual(await only('&tenant_id=acme'), ['lost', 'tied'])
  const paged: unknown[] = []
  for (let cursor = ''; ; ) {
    const { body } = await bundle.call(
      'GET',
      `/api/v1/inventory/changes?from=${from}&to=${to}&limit=1${cursor}`,
    )
    paged.push(...body.data)
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  assert.deepEqual(paged, rows)
})

test('whichever way a page of the past is found, it is the same page', onPostgresAlone, async t => {
  const bundle = await setup(t)
  await haveDeployment(bundle, DEPLOYMENT, 'acme')
  const ids = Array.from({ length: 12 }, (_, n) => `${n}`)
  const half = ids.filter(id => Number(id) % 2 === 0)
  const project = await haveProject(
    bundle,
    'p',
    'acme',
    half.map(id => ['droplet', id] as ['droplet', string]),
  )
  const droplet = (id: string, round: number) => ({
    provider_id: id,
    name: Number(id) % 3 === round ? 'web' : `n${id}`,
    region: Number(id) % 4 === 0 ? 'fra1' : 'nyc3',
    status: (Number(id) + round) % 2 === 0 ? 'active' : 'off',
    tags: Number(id) % 5 === round ? ['rare', `deployment:${DEPLOYMENT}`] : ['common'],
  })
  await see(
    bundle,
    'droplet',
    ids.map(id => droplet(id, 0)),
  )
  await gone(bundle, '4')
  const at = moment(bundle)
  const { data: all } = (await bundle.call('GET', '/api/v1/inventory?include_deleted=true')).body
  await see(
    bundle,
    'droplet',
    ids.slice(2).map(id => droplet(id, 1)),
  )
  await bundle.call('PATCH', `/api/v1/projects/${project}`, { body: { tenant_id: 'globex' } })
  moment(bundle)

  const values: Record<string, string[]> = {
    kind: ['droplet', 'volume'],
    region: ['fra1', 'nowhere'],
    status: ['active'],
    name: ['web', 'n7'],
    tag: ['rare', 'common'],
    tenant_id: ['acme', 'globex'],
    project_id: [project],
    deployment_id: [DEPLOYMENT],
  }
  const sets: Record<string, string>[] = [{}]
  for (const [name, choices] of Object.entries(values))
    for (const set of sets.filter(one => Object.keys(one).length < 2))
      for (const value of choices) sets.push({ ...set, [name]: value })
  const wide = { walk: 1_000, rest: 1_000, few: 1_000, ended: 1_000, far: 1_000 }
  const ways = [
    wide,
    { ...wide, walk: 3 },
    { ...wide, walk: 3, rest: 1 },
    { walk: 3, rest: 1, few: 1, ended: 1, far: 4 },
  ]
  for (const [index, set] of sets.entries()) {
    const filter: InventoryFilter = { ...set, include_deleted: index % 2 === 0 }
    const bounds = ways[(index >> 1) % ways.length]!
    const { tag, ...columns } = set
    for (const tenantId of set.tenant_id === undefined ? [null, 'acme', 'globex'] : [null]) {
      const expected = all.filter(
        (row: Record<string, unknown>) =>
          (filter.include_deleted || row.deleted_at === null) &&
          (tenantId === null || row.tenant_id === tenantId) &&
          (tag === undefined || (row.tags as string[]).includes(tag)) &&
          Object.entries(columns).every(([name, value]) => row[name] === value),
      )
      const scope =
        tenantId === null ? ({ allTenants: true } as const) : { allTenants: false as const, tenantId }
      const found: string[] = []
      for (let after: string | null = null; ; ) {
        const asked = [bundle.ctx.db, scope, filter, 5, after, bounds] as const
        const { rows, until } = await listResourcesThen(at, ...asked)
        found.push(...rows.map(row => row.id))
        if (rows.length < 5 && until === null) break
        after = until ?? rows.at(-1)!.id
      }
      assert.deepEqual(
        found,
        expected.map((row: { id: string }) => row.id),
        JSON.stringify({ tenantId, filter, bounds }),
      )
    }
  }
})
