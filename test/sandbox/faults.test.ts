// Each fault happens on demand, to the requests it was planned for and to no others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultNames } from '../../sandbox/provider/faults.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { setup } from './setup.ts'

test('a 429 comes with Retry-After in seconds, as a date, or without one', async t => {
  const { faults, get, clock } = await setup(t)
  faults.add({ fault: 'too_many_requests', seconds: 7 })
  faults.add({ fault: 'too_many_requests', retry_after: 'http-date', seconds: 90 })
  faults.add({ fault: 'too_many_requests', retry_after: 'none' })
  const answers = [await get('/v2/account'), await get('/v2/account'), await get('/v2/account')]
  assert.deepEqual(
    answers.map(answer => answer.status),
    [429, 429, 429],
  )
  assert.deepEqual(
    answers.map(answer => answer.headers.get('retry-after')),
    ['7', new Date(clock.now().getTime() + 90_000).toUTCString(), null],
  )
  assert.equal((await get('/v2/account')).status, 200)
})

test('a 500 strikes one page of one kind, as often as planned, after as many as planned', async t => {
  const { faults, get } = await setup(t, { seed: generated({ droplets: 60, volumes: 60 }) })
  faults.add({ fault: 'server_error', match: { kind: 'droplet', page: 2 }, times: 2, after: 1 })
  assert.equal((await get('/v2/droplets')).status, 200)
  assert.equal((await get('/v2/volumes?page=2')).status, 200)
  const statuses = []
  for (let time = 0; time < 4; time += 1) statuses.push((await get('/v2/droplets?page=2')).status)
  assert.deepEqual(statuses, [200, 500, 500, 200])
})

test('a fault matches by method and path, with a star for anything', async t => {
  const { faults, get, api } = await setup(t)
  faults.add({
    fault: 'server_error',
    status: 503,
    match: { method: 'delete', path: '/v2/droplets/*' },
    times: 'always',
  })
  assert.equal((await get('/v2/droplets/41000201')).status, 200)
  assert.equal((await api('DELETE', '/v2/droplets/41000201')).status, 503)
  assert.equal((await api('DELETE', '/v2/droplets/41000201')).status, 503)
  faults.clear()
  assert.equal((await api('DELETE', '/v2/droplets/41000201')).status, 204)
})

test('a GPU listing and a plain listing are told apart', async t => {
  const { faults, get } = await setup(t)
  faults.add({ fault: 'server_error', match: { kind: 'gpu_droplet' }, times: 'always' })
  assert.equal((await get('/v2/droplets')).status, 200)
  assert.equal((await get('/v2/droplets?type=gpus')).status, 500)
})

test('JSON can be cut, replaced by HTML with 200, or missing altogether', async t => {
  const { faults, raw } = await setup(t)
  faults.add({ fault: 'cut_json', keep: 0.3 })
  faults.add({ fault: 'html' })
  faults.add({ fault: 'empty_body' })
  const cut = await raw('GET', '/v2/droplets')
  assert.equal(cut.status, 200)
  assert.throws(() => JSON.parse(cut.text), SyntaxError)
  const html = await raw('GET', '/v2/droplets')
  assert.equal(html.status, 200)
  assert.match(html.headers.get('content-type') ?? '', /text\/html/)
  assert.match(html.text, /^<!DOCTYPE html>/)
  const empty = await raw('GET', '/v2/droplets')
  assert.deepEqual([empty.status, empty.text], [200, ''])
  assert.match(empty.headers.get('content-type') ?? '', /json/)
})

test('a CSV can be cut as well', async t => {
  const { faults, raw } = await setup(t)
  const path = '/v2/customers/my/invoices/preview/csv'
  const { text } = await raw('GET', path)
  faults.add({ fault: 'cut_json', keep: 0.5, match: { path: '/v2/customers/*/csv' } })
  assert.equal((await raw('GET', path)).text, text.slice(0, Math.floor(text.length / 2)))
})

test('the next link can lead to the same page again, or back to the first', async t => {
  const { faults, get } = await setup(t, { seed: generated({ droplets: 60 }) })
  faults.add({ fault: 'repeat_page' })
  faults.add({ fault: 'loop_pages' })
  const next = async () =>
    new URL((await get('/v2/droplets?page=3')).body.links.pages?.next ?? '').searchParams.get('page')
  assert.deepEqual([await next(), await next()], ['3', '1'])
})

test('an item that vanishes between pages hides another; one that appears shows another twice', async t => {
  const { faults, get } = await setup(t, { seed: generated({ droplets: 60 }) })
  const names = async (page: number) =>
    (await get(`/v2/droplets?page=${page}`)).body.droplets.map(item => item.name)
  const first = await names(1)
  faults.add({ fault: 'shift_pages', change: 'remove', match: { page: 2 } })
  assert.equal((await names(2))[0], 'vm-0000021', 'number 20 was never shown')
  faults.add({ fault: 'shift_pages', change: 'insert', match: { page: 2 } })
  faults.add({ fault: 'shift_pages', change: 'insert', match: { page: 2 } })
  await names(2)
  assert.equal((await names(2))[0], first[19], 'the last of page one again')
  assert.equal((await get('/v2/droplets')).body.meta.total, 61)
})

test('every kind can shift, whatever its ids look like', async t => {
  const { faults, get } = await setup(t)
  for (const path of [
    '/v2/domains',
    '/v2/reserved_ips',
    '/v2/reserved_ipv6',
    '/v2/account/keys',
    '/v2/vpcs',
    '/v2/registries',
  ]) {
    faults.add({ fault: 'shift_pages', change: 'insert', match: { path } })
    faults.add({ fault: 'shift_pages', change: 'remove', match: { path } })
    assert.equal((await get(path)).status, 200)
    assert.equal((await get(path)).status, 200)
  }
})

test('the total can be wrong', async t => {
  const { faults, get } = await setup(t)
  faults.add({ fault: 'wrong_total', by: -3 })
  assert.equal((await get('/v2/droplets')).body.meta.total, 5)
})

test('a listing can be late: it lacks what was made last, while the order for it is on record', async t => {
  const { faults, get, api, raw } = await setup(t)
  const order = { name: 'late-01', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', tags: ['saga:1'] }
  const { droplet } = (await api('POST', '/v2/droplets', order)).body
  faults.add({ fault: 'stale_listing', match: { kind: 'droplet' } })
  const listed = () => get('/v2/droplets?tag_name=saga:1')
  assert.deepEqual([(await listed()).body.meta.total, (await listed()).body.droplets.length], [0, 1])
  await api('DELETE', `/v2/droplets/${droplet.id}`)
  const { droplets } = JSON.parse((await raw('GET', '/__sandbox/ordered')).text)
  assert.deepEqual([droplets.length, droplets[0].id, droplets[0].tags], [1, droplet.id, ['saga:1']])
})

test('fields that need a side scope can be missing', async t => {
  const { faults, raw } = await setup(t)
  faults.add({ fault: 'missing_fields' })
  faults.add({ fault: 'missing_fields', fields: ['name'] })
  const [listed] = JSON.parse((await raw('GET', '/v2/droplets')).text).droplets
  for (const field of ['tags', 'image', 'volume_ids', 'vpc_uuid']) assert.ok(!(field in listed), field)
  assert.equal(listed.name, 'platform-bastion-01')
  const { droplet } = JSON.parse((await raw('GET', '/v2/droplets/41000201')).text)
  assert.equal(droplet.name, undefined)
  assert.deepEqual(droplet.tags, ['tenant:acme', 'env:prod', 'role:web'])
})

test('bytes can come slowly, and still come whole', async t => {
  const { faults, send } = await setup(t)
  faults.add({ fault: 'slow_bytes', chunk_bytes: 50, every_ms: 1 })
  const response = await send('GET', '/v2/account')
  const chunks = []
  for await (const chunk of response.body!) chunks.push(chunk)
  assert.ok(chunks.length > 3, `${chunks.length} chunks`)
  assert.equal(JSON.parse(Buffer.concat(chunks).toString()).account.status, 'active')
})

test('a reset before the write leaves nothing behind', async t => {
  const { faults, api, world } = await setup(t)
  const before = world.shelves.droplet.size
  faults.add({ fault: 'connection_reset', match: { method: 'POST' } })
  await assert.rejects(api('POST', '/v2/droplets', wanted), /fetch failed/)
  assert.equal(world.shelves.droplet.size, before)
})

const wanted = {
  name: 'lost',
  region: 'nyc3',
  size: 's-1vcpu-1gb',
  image: 'ubuntu-24-04-x64',
  tags: ['saga:7'],
}

test('an answer lost after the write leaves the droplet behind, to be found by its tag', async t => {
  const { faults, api, get } = await setup(t)
  faults.add({ fault: 'reset_after_commit', match: { method: 'POST', path: '/v2/droplets' } })
  await assert.rejects(api('POST', '/v2/droplets', wanted), /fetch failed/)
  assert.equal((await get('/v2/droplets?tag_name=saga:7')).body.meta.total, 1)
  faults.add({ fault: 'error_after_commit', status: 502, match: { method: 'POST' } })
  assert.equal((await api('POST', '/v2/droplets', wanted)).status, 502)
  assert.equal((await get('/v2/droplets?tag_name=saga:7')).body.meta.total, 2)
})

test('a delete whose answer is lost is done all the same', async t => {
  const { faults, api } = await setup(t)
  faults.add({ fault: 'reset_after_commit', match: { method: 'DELETE' } })
  await assert.rejects(api('DELETE', '/v2/droplets/41000201'), /fetch failed/)
  assert.equal((await api('DELETE', '/v2/droplets/41000201')).status, 404)
})

test('a stalled request is never answered while others are', async t => {
  const { faults, url, get } = await setup(t)
  faults.add({ fault: 'stall', match: { path: '/v2/account' } })
  const giveUp = new AbortController()
  let settled = false
  const headers = { authorization: 'Bearer sandbox-provider-token' }
  const stalled = fetch(`${url}/v2/account`, { headers, signal: giveUp.signal }).finally(() => {
    settled = true
  })
  while (faults.list()[0]?.met === 0) await get('/v2/regions')
  await get('/v2/regions')
  assert.equal(settled, false)
  giveUp.abort()
  await assert.rejects(stalled, { name: 'AbortError' })
})

test('faults are planned, listed and cleared over HTTP without a token', async t => {
  const { url, get } = await setup(t)
  const plan = (body: unknown) =>
    fetch(`${url}/__sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  assert.equal(
    (await plan({ fault: 'server_error', match: { kind: 'volume' }, times: 'always' })).status,
    201,
  )
  assert.equal((await get('/v2/volumes')).status, 500)
  const { faults } = (await (await fetch(`${url}/__sandbox/faults`)).json()) as { faults: { met: number }[] }
  assert.equal(faults[0]?.met, 1)
  assert.equal((await fetch(`${url}/__sandbox/faults`, { method: 'DELETE' })).status, 204)
  assert.equal((await get('/v2/volumes')).status, 200)
  for (const wrong of [
    {},
    { fault: 'plague' },
    { fault: 'html', times: -1 },
    { fault: 'html', match: { kind: 'x' } },
    [],
  ]) {
    assert.equal((await plan(wrong)).status, 422, JSON.stringify(wrong))
  }
  for (const fault of faultNames) assert.equal((await plan({ fault })).status, 201, fault)
})
