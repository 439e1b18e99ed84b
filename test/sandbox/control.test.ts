// From outside, without a token, the world can be looked at and changed behind the service's back; and the
// whole sandbox starts with one call.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSandbox } from '../../sandbox/main.ts'
import { kindNames } from '../../sandbox/world/kinds.ts'
import { smallCompanyProjects } from '../../sandbox/world/small-company-resources.ts'
import { setup } from './setup.ts'

test('the state shows what there is: every kind, the projects, the invoices', async t => {
  const { url } = await setup(t)
  const state = (await (await fetch(`${url}/__sandbox/state`)).json()) as {
    simulated: boolean
    resources: Record<string, number>
    projects: { name: string; resources: number }[]
  }
  assert.equal(state.simulated, true)
  assert.deepEqual(Object.keys(state.resources), kindNames)
  for (const [kind, count] of Object.entries(state.resources)) assert.ok(count > 0, kind)
  assert.deepEqual(
    state.projects.map(project => project.name),
    ['platform', 'acme', 'globex', 'initech'],
  )
})

test('a resource changed by JSON merge shows at the provider', async t => {
  const { url, api, get } = await setup(t)
  const patch = (path: string, body: object) => api('PATCH', `/__sandbox/resources/${path}`, body)
  await patch('droplet/41000201', {
    status: 'off',
    tags: ['env:prod', 'surprise'],
    image: { name: 'other' },
    vpc_uuid: null,
  })
  const { droplet } = (await get('/v2/droplets/41000201')).body
  assert.equal(droplet.status, 'off')
  assert.equal(droplet.image.name, 'other')
  assert.equal(droplet.image.slug, 'ubuntu-24-04-x64')
  assert.equal('vpc_uuid' in droplet, false)
  assert.equal((await get('/v2/droplets?tag_name=surprise')).body.meta.total, 1)
  await patch('droplet/41000402', { name: 'gpu-renamed', id: 5 })
  assert.equal((await get('/v2/droplets?type=gpus')).body.droplets[0]?.name, 'gpu-renamed')
  assert.equal((await patch('droplet/1', {})).status, 404)
  assert.equal((await patch('unicorn/1', {})).status, 422)
  const polluted = await fetch(`${url}/__sandbox/resources/droplet/41000201`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"__proto__": {"polluted": true}}',
  })
  assert.equal(polluted.status, 400)
})

test('a resource of every kind appears from a few fields, and vanishes again', async t => {
  const { api, world } = await setup(t)
  for (const kind of kindNames) {
    const { size } = world.shelves[kind]
    const made = await api('POST', `/__sandbox/resources/${kind}`, {})
    assert.equal(made.status, 201, kind)
    assert.equal(world.shelves[kind].size, size + 1)
    const id = world.shelves[kind].idOf(made.body as never)
    assert.equal((await api('GET', `/__sandbox/resources/${kind}/${id}`)).status, 200)
    assert.equal((await api('DELETE', `/__sandbox/resources/${kind}/${id}`)).status, 204)
    assert.equal((await api('DELETE', `/__sandbox/resources/${kind}/${id}`)).status, 404)
    assert.equal(world.shelves[kind].size, size)
  }
})

test('a resource that appears can be put into a project, and conforms where it is listed', async t => {
  const { api, get } = await setup(t)
  const { globex } = smallCompanyProjects
  await api('POST', '/__sandbox/resources/droplet', { id: 77, name: 'surprise-01', project_id: globex })
  assert.equal((await api('POST', '/__sandbox/resources/droplet', { id: 77 })).status, 409)
  assert.equal((await get('/v2/droplets/77')).body.droplet.name, 'surprise-01')
  const { resources } = (await get(`/v2/projects/${globex}/resources?per_page=200`)).body
  assert.ok(resources.some(resource => resource.urn === 'do:droplet:77'))
  const listed = await api('GET', '/__sandbox/resources/droplet')
  assert.equal((listed.body as unknown as { total: number }).total, 9)
})

test('the sandbox paths take no part in rate limits, faults or the record of requests', async t => {
  const { url, faults, provider, get } = await setup(t, { rateLimits: { perMinute: 1 } })
  faults.add({ fault: 'server_error', times: 'always', after: 1 })
  for (let time = 0; time < 3; time += 1) assert.equal((await fetch(`${url}/__sandbox/state`)).status, 200)
  await get('/v2/account')
  assert.deepEqual(
    provider.requests.map(({ method, url: path, status }) => [method, path, status]),
    [['GET', '/v2/account', 200]],
  )
})

test('startSandbox brings both services up on loopback, says loudly that they are simulated, and ends', async () => {
  const lines: string[] = []
  const log = { info: (_details: object, message: string) => lines.push(message) }
  const sandbox = await startSandbox({ log, financeSecret: 'x'.repeat(32) })
  try {
    assert.equal(lines.filter(line => line.startsWith('SIMULATED')).length, 2)
    for (const url of [sandbox.providerUrl, sandbox.financeUrl])
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const headers = { authorization: `Bearer ${sandbox.token}` }
    assert.equal((await fetch(`${sandbox.providerUrl}/v2/account`, { headers })).status, 200)
    for (const token of ['dop_v1_somebody', 'short'])
      await fetch(`${sandbox.providerUrl}/v2/account`, { headers: { authorization: `Bearer ${token}` } })
    const state = await (await fetch(`${sandbox.providerUrl}/__sandbox/state`)).json()
    const { requests } = state as { requests: { status: number; token: string }[] }
    assert.deepEqual(
      requests.map(({ status, token }) => [status, token]),
      [
        [200, '…oken'],
        [200, '…body'],
        [200, '…'],
      ],
      'any token is taken, and none is shown',
    )
    assert.equal(
      (await fetch(`${sandbox.financeUrl}/__sandbox/invoices`)).headers.get('x-sandbox'),
      'simulated',
    )
    const taken = Number(new URL(sandbox.financeUrl).port)
    await assert.rejects(startSandbox({ log, ports: { finance: taken } }), { code: 'EADDRINUSE' })
  } finally {
    await sandbox.close()
  }
  await assert.rejects(fetch(`${sandbox.providerUrl}/v2/account`))
})
