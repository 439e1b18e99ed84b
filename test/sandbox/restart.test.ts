import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { manualClock } from '../../sandbox/clock.ts'
import { writeWorld } from '../../sandbox/world/kept-world.ts'
import { temporaryFolder } from '../support/process.ts'
import { setup } from './setup.ts'

const order = {
  name: 'kept-01',
  size: 's-1vcpu-1gb',
  image: 'ubuntu-24-04-x64',
  region: 'nyc3',
  tags: ['kept'],
}

/** Starts a provider on one file again and again, by one clock. */
function restarting(t: TestContext) {
  const file = join(temporaryFolder(t), 'sandbox', 'provider.json')
  const clock = manualClock()
  return { file, clock, start: () => setup(t, { file, clock }) }
}

test('after a restart the provider’s world is as before: resources, projects, tags, actions, ids', async t => {
  const { start, clock, file } = restarting(t)
  const first = await start()
  const { droplet } = (await first.api('POST', '/v2/droplets', order)).body
  const project = (await first.get('/v2/projects')).body.projects[1]!
  await first.api('POST', `/v2/projects/${project.id}/resources`, { resources: [`do:droplet:${droplet.id}`] })
  await first.api('POST', '/v2/tags', { name: 'on-its-own' })
  clock.advance(10_000)
  await first.get('/v2/droplets')
  const before = writeWorld(first.world)
  const invoices = (await first.get('/v2/customers/my/invoices')).body
  await first.provider.close()

  clock.advance(40 * 86_400_000)
  const second = await start()
  await second.get('/v2/droplets')
  assert.deepEqual(JSON.parse(JSON.stringify(writeWorld(second.world))), JSON.parse(JSON.stringify(before)))
  const later = (await second.get('/v2/customers/my/invoices')).body.invoices.map(each => each.invoice_uuid)
  assert.deepEqual(
    later.slice(-invoices.invoices.length),
    invoices.invoices.map(each => each.invoice_uuid),
  )
  const next = (await second.api('POST', '/v2/droplets', { ...order, name: 'kept-02' })).body.droplet
  assert.ok(next.id > droplet.id)
  assert.equal(statSync(file).mode & 0o077, 0)
})

test('what was under way when it ended comes to its end afterwards', async t => {
  const { start, clock } = restarting(t)
  const first = await start()
  const { body } = await first.api('POST', '/v2/droplets', order)
  const action = body.links.actions![0]!.id
  const balancer = await first.api('POST', '/v2/load_balancers', {
    name: 'kept-lb',
    region: 'nyc3',
    forwarding_rules: [{ entry_protocol: 'http', entry_port: 80, target_protocol: 'http', target_port: 80 }],
  })
  await first.provider.close()

  const second = await start()
  assert.equal((await second.get(`/v2/droplets/${body.droplet.id}`)).body.droplet.status, 'new')
  clock.advance(5_000)
  assert.equal((await second.get(`/v2/droplets/${body.droplet.id}`)).body.droplet.status, 'active')
  assert.equal((await second.get(`/v2/actions/${action}`)).body.action.status, 'completed')
  const { id } = balancer.body.load_balancer
  assert.equal((await second.get(`/v2/load_balancers/${id}`)).body.load_balancer.status, 'active')
})

test('what was changed behind the service’s back, and what an answer was lost for, is kept too', async t => {
  const { start } = restarting(t)
  const first = await start()
  const gone = first.world.shelves.volume.at(0)!.id
  await first.api('DELETE', `/__sandbox/resources/volume/${gone}`)
  first.faults.add({ fault: 'reset_after_commit', match: { method: 'POST', path: '/v2/droplets' } })
  await assert.rejects(first.raw('POST', '/v2/droplets', order))
  await first.provider.close()

  const second = await start()
  assert.equal((await second.get(`/v2/volumes/${gone}`)).status, 404)
  assert.equal((await second.get('/v2/droplets?name=kept-01')).body.droplets.length, 1)
})

test('reading writes nothing, and a file that nobody can read is put aside', async t => {
  const { start, file } = restarting(t)
  const first = await start()
  const { mtimeNs } = statSync(file, { bigint: true })
  await first.get('/v2/droplets')
  assert.equal(statSync(file, { bigint: true }).mtimeNs, mtimeNs)
  await first.provider.close()

  writeFileSync(file, '{"form": 1, "content": {"resour')
  const second = await start()
  assert.ok((await second.get('/v2/droplets')).body.droplets.length > 0)
  assert.ok(existsSync(`${file}.unreadable`))
  assert.ok(JSON.parse(readFileSync(file, 'utf8')).content.resources)
})
