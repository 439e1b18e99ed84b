// What one tenant can learn of another through the inventory: nothing, by any filter, cursor or id.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { type Answer, type Bundle, setup } from '../support/setup.ts'
import { haveDeployment, haveProject, rowOf, see } from '../support/sweep.ts'

const DEPLOYMENT = '0199d2a8-1111-7000-8000-00000000000b'

/** Two tenants with two droplets each, made in turn, and a droplet that is nobody's. */
async function seed(bundle: Bundle) {
  await haveDeployment(bundle, DEPLOYMENT, 'globex')
  const projects = {
    acme: await haveProject(bundle, 'p-acme', 'acme', [
      ['droplet', 'a1'],
      ['droplet', 'a2'],
    ]),
    globex: await haveProject(bundle, 'p-globex', 'globex', [
      ['droplet', 'b1'],
      ['droplet', 'b2'],
    ]),
  }
  for (const id of ['a1', 'b1', 'nobody', 'a2', 'b2']) {
    const tags = id === 'b1' ? ['secret', `deployment:${DEPLOYMENT}`] : ['plain']
    await see(bundle, 'droplet', [
      {
        provider_id: id,
        name: `name-${id}`,
        region: id === 'b1' ? 'fra1' : 'nyc3',
        status: id === 'b1' ? 'off' : 'active',
        tags,
      },
    ])
  }
  return projects
}

const ids = (answer: Answer): string[] =>
  answer.body.data.map((row: { provider_id: string }) => row.provider_id).sort()

test('a tenant sees its own resources and a platform_admin those of all and of none', async t => {
  const bundle = await setup(t)
  await seed(bundle)
  const as = async (token?: string) => ids(await bundle.call('GET', '/api/v1/inventory', { token }))
  assert.deepEqual(await as(await bundle.tokens.tenant('acme')), ['a1', 'a2'])
  assert.deepEqual(await as(await bundle.tokens.tenant('globex')), ['b1', 'b2'])
  assert.deepEqual(await as(await bundle.tokens.tenant('stranger')), [])
  assert.deepEqual(await as(), ['a1', 'a2', 'b1', 'b2', 'nobody'])
  const globex = await bundle.call('GET', '/api/v1/inventory?tenant_id=globex')
  assert.deepEqual(ids(globex), ['b1', 'b2'])
})

test('no filter shows a tenant another’s row', async t => {
  const bundle = await setup(t)
  const projects = await seed(bundle)
  const token = await bundle.tokens.tenant('acme')
  for (const query of [
    'kind=droplet',
    'region=fra1',
    'status=off',
    `project_id=${projects.globex}`,
    `deployment_id=${DEPLOYMENT}`,
    'name=name-b1',
    'name=name-nobody',
    'tag=secret',
    'include_deleted=true',
    'tenant_id=acme',
    `kind=droplet&project_id=${projects.globex}&include_deleted=true`,
  ]) {
    const answer = await bundle.call('GET', `/api/v1/inventory?${query}`, { token })
    assert.equal(answer.status, 200)
    assert.deepEqual(
      ids(answer).filter(id => !id.startsWith('a')),
      [],
      query,
    )
  }
})

test('naming another tenant in a filter is refused, naming oneself is not', async t => {
  const bundle = await setup(t)
  await seed(bundle)
  const token = await bundle.tokens.tenant('acme')
  for (const path of ['/inventory', '/projects']) {
    for (const tenant of ['globex', 'unheard-of']) {
      const { status, body } = await bundle.call('GET', `/api/v1${path}?tenant_id=${tenant}`, { token })
      assert.deepEqual([status, body.code], [403, 'forbidden'], `${path} ${tenant}`)
    }
    assert.equal((await bundle.call('GET', `/api/v1${path}?tenant_id=acme`, { token })).status, 200)
  }
})

test('a cursor moves within what its bearer may see, whoever it was made for', async t => {
  const bundle = await setup(t)
  await seed(bundle)
  const [acme, globex] = [await bundle.tokens.tenant('acme'), await bundle.tokens.tenant('globex')]
  const page = (token: string | undefined, cursor = '') =>
    bundle.call('GET', `/api/v1/inventory?limit=1${cursor}`, { token })
  const first = await page(acme)
  assert.deepEqual(ids(first), ['a1'])
  const borrowed = await page(globex, `&cursor=${first.body.next_cursor}`)
  assert.ok(ids(borrowed).every(id => id.startsWith('b')))
  const own = await page(acme, `&cursor=${first.body.next_cursor}`)
  assert.deepEqual(
    [ids(own), own.body.next_cursor],
    [['a2'], null],
    'no next page is promised because of others’ rows',
  )
  const admins = await page(undefined)
  assert.ok(ids(await page(acme, `&cursor=${admins.body.next_cursor}`)).every(id => id.startsWith('a')))
})

test('another tenant’s id and one that does not exist are answered alike, to the header', async t => {
  const bundle = await setup(t)
  const projects = await seed(bundle)
  const token = await bundle.tokens.tenant('acme')
  const { id: foreign } = await rowOf(bundle, 'droplet', 'b1')
  const { id: nobodys } = await rowOf(bundle, 'droplet', 'nobody')
  const { id: own } = await rowOf(bundle, 'droplet', 'a1')
  const plain = ({ status, headers, body }: Answer) => {
    const { request_id: _, ...problem } = body
    const kept = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit-|x-ratelimit-)/.test(name))
    return { status, problem, headers: kept }
  }
  for (const [path, known] of [
    ['/inventory/:id', [foreign, nobodys]],
    ['/inventory/:id/events', [foreign, nobodys]],
    ['/inventory/:id/events?limit=1', [foreign]],
    ['/projects/:id', [projects.globex]],
  ] as const) {
    const ask = (id: string) => bundle.call('GET', `/api/v1${path.replace(':id', id)}`, { token })
    const unknown = plain(await ask(newId()))
    assert.equal(unknown.status, 404)
    for (const id of known) assert.deepEqual(plain(await ask(id)), unknown, path)
  }
  assert.equal((await bundle.call('GET', `/api/v1/inventory/${own}`, { token })).status, 200)
  assert.equal((await bundle.call('GET', `/api/v1/inventory/${own}/events`, { token })).body.data.length, 1)
  assert.equal(
    (await bundle.call('GET', `/api/v1/inventory/${foreign}`)).status,
    200,
    'a platform_admin sees it',
  )
})

test('a tenant sees its own projects alone', async t => {
  const bundle = await setup(t)
  const projects = await seed(bundle)
  await haveProject(bundle, 'p-nobody', null)
  const token = await bundle.tokens.tenant('acme')
  const names = (answer: Answer) => answer.body.data.map((row: { name: string }) => row.name)
  assert.deepEqual(names(await bundle.call('GET', '/api/v1/projects', { token })), ['p-acme'])
  assert.deepEqual(
    names(await bundle.call('GET', '/api/v1/projects?purpose=unassigned&include_deleted=true', { token })),
    [],
  )
  assert.deepEqual(names(await bundle.call('GET', '/api/v1/projects')), ['p-acme', 'p-globex', 'p-nobody'])
  assert.equal((await bundle.call('GET', `/api/v1/projects/${projects.acme}`, { token })).status, 200)
})

test('sweeps, their confirmation and whose a project is are for a platform_admin', async t => {
  const bundle = await setup(t)
  const projects = await seed(bundle)
  for (const claims of [{}, { role: 'admin' }, { role: 'owner' }]) {
    const token = await bundle.tokens.tenant('acme', claims)
    for (const [method, path, body] of [
      ['GET', '/inventory/sync-runs'],
      ['GET', `/inventory/sync-runs/${newId()}`],
      ['POST', `/inventory/sync-runs/${newId()}/confirm`],
      ['PATCH', `/inventory/${newId()}`, { deployment_id: DEPLOYMENT }],
      ['PATCH', `/projects/${projects.acme}`, { tenant_id: 'globex' }],
      ['PATCH', `/projects/${projects.globex}`, { tenant_id: 'acme' }],
    ] as const) {
      const answer = await bundle.call(method, `/api/v1${path}`, { token, body })
      assert.deepEqual([answer.status, answer.body.code], [403, 'forbidden'], `${method} ${path}`)
    }
  }
})

test('without a token nothing of the inventory answers', async t => {
  const { call } = await setup(t)
  for (const path of [
    '/inventory',
    `/inventory/${newId()}`,
    `/inventory/${newId()}/events`,
    '/projects',
    '/inventory/sync-runs',
  ])
    assert.equal((await call('GET', `/api/v1${path}`, { token: null })).status, 401, path)
})
