// Drift over the API: the inbox, accepting, desired states, and what a tenant sees of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { accept, desire, drifts, droplet, sweepDrift, toldOf } from '../support/drift.ts'
import { setup } from '../support/setup.ts'
import { haveProject, rowOf, see } from '../support/sweep.ts'

const inventory = '/api/v1/inventory'
const rules = '/api/v1/drift/ignore-rules'

test('the inbox lists open drift newest first, by kind and resource, page by page, in the contract’s shape', async t => {
  const bundle = await setup(t)
  const project = await haveProject(bundle, 'p-acme', 'acme', [['droplet', '1']])
  const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { vcpus: 1, memory: 1 } })
  await desire(bundle, id, { name: 'db', vcpus: 2, memory: 2 })
  await sweepDrift(bundle)
  await see(bundle, 'volume', [{ provider_id: 'v', attrs: { size: 1 } }])
  const { id: volume } = await rowOf(bundle, 'volume', 'v')
  await desire(bundle, volume, { size: 2 })
  await sweepDrift(bundle)

  const all = await drifts(bundle)
  assert.equal(all.length, 4)
  assert.equal(all[0].kind, 'volume')
  const row = all.find(({ field }) => field === 'name')
  assert.deepEqual(row, {
    id: row.id,
    resource_id: id,
    kind: 'droplet',
    name: 'web',
    provider_id: '1',
    tenant_id: 'acme',
    resource_deleted_at: null,
    field: 'name',
    desired: 'db',
    actual: 'web',
    status: 'open',
    detected_at: row.detected_at,
    last_detected_at: bundle.clock.now().toISOString(),
    resolved_at: null,
    resolved_by: null,
    ignore_rule_id: null,
    action: null,
  })
  assert.ok(project)
  assert.deepEqual((await bundle.call('GET', `/api/v1/drift/${row.id}`)).body.data, row)
  assert.equal((await bundle.call('GET', `/api/v1/drift/${newId()}`)).status, 404)

  assert.equal((await drifts(bundle, '?kind=droplet')).length, 3)
  assert.equal((await drifts(bundle, `?resource_id=${volume}`)).length, 1)
  assert.equal((await drifts(bundle, `?resource_id=${volume}&kind=droplet`)).length, 0)
  assert.equal((await drifts(bundle, '?status=accepted')).length, 0)
  for (const query of ['', '&kind=droplet', `&resource_id=${id}`]) {
    const expected = await drifts(bundle, `?limit=500${query}`)
    const paged: unknown[] = []
    let path: string | null = `/api/v1/drift?limit=1${query}`
    while (path) {
      const { body, headers } = await bundle.call('GET', path)
      paged.push(...body.data)
      path = /<(.+)>/.exec(headers.get('link') ?? '')?.[1] ?? null
      assert.equal(path === null, body.next_cursor === null)
    }
    assert.deepEqual(paged, expected)
  }
  for (const query of [
    '?status=ignored',
    '?ignored=true&status=open',
    '?kind=boat',
    '?cursor=x',
    '?tenant_id=a',
  ])
    assert.equal((await bundle.call('GET', `/api/v1/drift${query}`)).status, 422, query)
})

test('accepting takes the live value as it is now, bumps the version once, and can be done once', async t => {
  const bundle = await setup(t)
  const raw = '{"size": "a", "features": ["x"], "__proto__": {"a": 1}}'
  const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: JSON.parse(raw) })
  await desire(
    bundle,
    id,
    {},
    '{"spec": {"size": "b", "features": ["y"], "nowhere": 1, "name": "web", "__proto__": 2}}',
  )
  await sweepDrift(bundle)
  const rows = await drifts(bundle)
  const idOf = (field: string): string => rows.find(row => row.field === field).id

  // The live value has moved since the sweep.
  await droplet(bundle, { provider_id: '1', name: 'web', attrs: { size: 'c' } })
  const token = await bundle.tokens.admin({ sub: 'grace' })
  // Many clients name a type for the body they do not send.
  const headers = { 'content-type': 'application/json' }
  const path = `/api/v1/drift/${idOf('size')}/accept`
  const { status, body, text } = await bundle.call('POST', path, { token, headers })
  assert.equal(status, 200, text)
  const { desired, actual, resolved_at, resolved_by, spec_version } = body.data
  assert.deepEqual(
    [body.data.status, desired, actual, resolved_at, resolved_by, spec_version],
    ['accepted', 'b', 'c', bundle.clock.now().toISOString(), 'grace', 2],
  )
  for (const [field, version] of [
    ['nowhere', 3],
    ['features', 4],
    ['__proto__', 5],
  ] as const)
    assert.equal((await accept(bundle, idOf(field))).body.data.spec_version, version)
  const shown = await bundle.call('GET', `${inventory}/${id}`)
  assert.match(
    shown.text,
    /"spec" : \{"name": "web", "size": "c", "nowhere": null, "features": \["x"\], "__proto__": \{"a": 1\}\},/,
  )
  assert.deepEqual([shown.body.data.desired_state.spec_version, shown.body.data.drift], [5, []])

  const again = await accept(bundle, idOf('size'))
  assert.deepEqual([again.status, again.body.code], [409, 'drift_not_open'])
  assert.equal((await accept(bundle, newId())).status, 404)
  assert.deepEqual(await sweepDrift(bundle), { open: 0, told: 0, ignored: 0, stale: 0 })
  assert.equal((await toldOf(bundle, id)).length, 4)
  assert.equal((await drifts(bundle, '?status=accepted')).length, 4)

  // Stale: the field matches again.
  await desire(bundle, id, { size: 'd' })
  await sweepDrift(bundle)
  const [open] = await drifts(bundle)
  await desire(bundle, id, { size: 'c' })
  await sweepDrift(bundle)
  const stale = await accept(bundle, open.id)
  assert.deepEqual([stale.status, stale.body.code], [409, 'drift_not_open'])
  // Stale at once: the field is no longer desired.
  await desire(bundle, id, { size: 'd', name: 'web' })
  await sweepDrift(bundle)
  const [another] = await drifts(bundle)
  await desire(bundle, id, { name: 'web' })
  assert.deepEqual(await drifts(bundle), [])
  assert.equal((await accept(bundle, another.id)).body.code, 'drift_not_open')
})

test('an operator adopts a resource: the same spec again bumps nothing, and bounds are kept', async t => {
  const bundle = await setup(t)
  const id = await droplet(bundle, { provider_id: '1', name: 'web' })
  const path = `${inventory}/${id}/desired-state`
  assert.deepEqual(await desire(bundle, id, { name: 'db' }), {
    spec: { name: 'db' },
    spec_version: 1,
    saga_id: null,
  })
  assert.equal((await desire(bundle, id, { name: 'db' })).spec_version, 1)
  assert.equal((await desire(bundle, id, { name: 'web' })).spec_version, 2)
  const deep = JSON.parse(`${'['.repeat(9)}1${']'.repeat(9)}`)
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, 1]))
  for (const body of [
    {},
    { spec: null },
    { spec: [] },
    { spec: { a: deep } },
    { spec: many },
    { spec: { '': 1 } },
    { spec: { ['x'.repeat(256)]: 1 } },
    { spec: { a: 'x'.repeat(65_536) } },
    { spec: {}, saga_id: null },
  ]) {
    const refused = await bundle.call('PUT', path, { body })
    assert.equal(refused.status, 422, JSON.stringify(body).slice(0, 80))
  }
  const spec = {
    first_seen_at: 'x',
    last_seen_at: 'x',
    stale_strike_count: 0,
    missing_since: null,
    deleted_at: null,
    id,
    provider_id: '1',
    attrs: { vcpus: 1 },
    'attrs.vcpus': 1,
  }
  const refused = await bundle.call('PUT', path, { body: { spec: { ...spec, name: 'x', tenant_id: null } } })
  assert.deepEqual(
    [refused.status, refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)],
    [422, Object.keys(spec).map(field => `/spec/${field}`)],
    'what can never be otherwise, or is no field, is named',
  )
  assert.equal(
    (await bundle.call('PUT', `${inventory}/${newId()}/desired-state`, { body: { spec: {} } })).status,
    404,
  )
  assert.equal((await bundle.call('GET', `${inventory}/${id}`)).body.data.desired_state.spec_version, 2)

  await desire(bundle, id, { name: 'x' })
  await sweepDrift(bundle)
  assert.equal((await bundle.call('DELETE', path)).status, 204)
  assert.equal((await bundle.call('DELETE', path)).status, 404)
  const { desired_state, drift } = (await bundle.call('GET', `${inventory}/${id}`)).body.data
  assert.deepEqual([desired_state, drift], [null, []])
  assert.equal((await drifts(bundle, '?status=stale')).length, 1)
})

test('a resource is shown with what is desired of it and its open drift, to its own tenant alone', async t => {
  const bundle = await setup(t)
  await haveProject(bundle, 'p-acme', 'acme', [['droplet', '1']])
  const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { vcpus: 1 } })
  await desire(bundle, id, { vcpus: 2, name: 'db' })
  await sweepDrift(bundle)
  const token = await bundle.tokens.tenant('acme')
  const { body } = await bundle.call('GET', `${inventory}/${id}`, { token })
  assert.deepEqual(body.data.desired_state, {
    spec: { vcpus: 2, name: 'db' },
    spec_version: 1,
    saga_id: null,
  })
  assert.deepEqual(
    body.data.drift.map(({ field }: { field: string }) => field),
    ['name', 'vcpus'],
  )
  assert.deepEqual(
    body.data.events.map(({ kind }: { kind: string }) => kind),
    ['discovered', 'drift_detected', 'drift_detected'],
  )
  const [row] = await drifts(bundle, '?limit=1')
  assert.ok(body.data.drift.some((shown: object) => JSON.stringify(shown) === JSON.stringify(row)))
  const stranger = await bundle.tokens.tenant('globex')
  assert.equal((await bundle.call('GET', `${inventory}/${id}`, { token: stranger })).status, 404)
  for (const [method, path] of [
    ['GET', '/api/v1/drift'],
    ['GET', `/api/v1/drift/${row.id}`],
    ['POST', `/api/v1/drift/${row.id}/accept`],
    ['PUT', `${inventory}/${id}/desired-state`],
    ['DELETE', `${inventory}/${id}/desired-state`],
    ['GET', rules],
    ['POST', rules],
  ] as const)
    assert.equal((await bundle.call(method, path, { token })).status, 403, `${method} ${path}`)
})

test('ignore rules are made, listed, shown and deleted, and bad ones refused', async t => {
  const bundle = await setup(t)
  const id = await droplet(bundle, { provider_id: '1' })
  const made = await bundle.call('POST', rules, {
    body: {
      resource_id: id,
      kind: 'droplet',
      field: 'size*',
      reason: 'resized by hand',
      expires_at: '2026-12-01T01:00:00+01:00',
    },
    headers: { 'idempotency-key': 'one' },
  })
  assert.equal(made.status, 201, made.text)
  const rule = made.body.data
  assert.deepEqual(rule, {
    id: rule.id,
    kind: 'droplet',
    resource_id: id,
    field: 'size*',
    reason: 'resized by hand',
    expires_at: '2026-12-01T00:00:00.000Z',
    created_by: 'ada',
    created_at: bundle.clock.now().toISOString(),
  })
  const path = `${rules}/${rule.id}`
  assert.equal(made.headers.get('location'), path)
  assert.deepEqual((await bundle.call('GET', path)).body.data, rule)
  await bundle.call('POST', rules, { body: { field: '*', reason: 'all of it' } })
  const first = await bundle.call('GET', `${rules}?limit=1`)
  assert.equal(first.body.data[0].field, '*')
  const second = await bundle.call('GET', `${rules}?limit=1&cursor=${first.body.next_cursor}`)
  assert.deepEqual([second.body.data, second.body.next_cursor], [[rule], null])
  for (const body of [
    { reason: 'no field' },
    { field: 'a' },
    { field: '', reason: 'x' },
    { field: 'a', reason: '' },
    { field: 'a', reason: 'x', kind: 'boat' },
    { field: 'a', reason: 'x', resource_id: newId() },
    { field: 'a', reason: 'x', expires_at: '2026-11-15T11:59:59Z' },
    { field: 'a', reason: 'x', expires_at: 'tomorrow' },
    { field: 'a', reason: 'x', status: 'open' },
  ])
    assert.equal((await bundle.call('POST', rules, { body })).status, 422, JSON.stringify(body))
  assert.equal((await bundle.call('DELETE', path)).status, 204)
  assert.equal((await bundle.call('DELETE', path)).status, 404)
  assert.equal((await bundle.call('GET', path)).status, 404)
})
