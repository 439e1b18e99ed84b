// The seed's inventory lifecycle, through the API and the real queue, against the simulated provider.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindNames } from '../../src/integrations/digitalocean/index.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { sweepAll } from '../support/sweep.ts'

const control = async ({ ctx }: Bundle, method: string, path: string, body?: object) => {
  const answer = await fetch(`${ctx.config.DIGITALOCEAN_API_URL}/__sandbox${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
}

async function find({ call }: Bundle, name: string) {
  const { body } = await call('GET', `/api/v1/inventory?name=${name}&include_deleted=true`)
  return body.data[0]
}

const eventsOf = async ({ call }: Bundle, id: string) => {
  const { body } = await call('GET', `/api/v1/inventory/${id}/events`)
  return body.data.map((event: { kind: string }) => event.kind).reverse()
}

test('a first sweep discovers every kind, and a second over an unchanged provider makes no event', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  const first = await sweepAll(bundle)
  for (const run of first.values()) assert.equal(run.status, 'complete', `${run.kind}: ${run.error}`)
  const { body } = await bundle.call('GET', '/api/v1/inventory?limit=500')
  assert.deepEqual(
    [...new Set(body.data.map((row: { kind: string }) => row.kind))].sort(),
    [...kindNames].sort(),
  )
  assert.deepEqual(Object.keys(body.as_of).sort(), [...kindNames].sort())

  const second = await sweepAll(bundle)
  for (const run of second.values()) {
    assert.deepEqual(
      [run.inserted, run.updated, run.struck, run.deleted, run.restored],
      [0, 0, 0, 0, 0],
      run.kind,
    )
  }
  const after = await bundle.call('GET', '/api/v1/inventory?limit=500')
  assert.deepEqual(after.body.data.map(withoutLastSeen), body.data.map(withoutLastSeen))
  for (const { id } of after.body.data)
    assert.equal((await eventsOf(bundle, id)).filter(isDiscovery).length, 1)
})

const isDiscovery = (kind: string) => kind === 'discovered'
const withoutLastSeen = ({ last_seen_at: _, ...row }: { last_seen_at: string }) => row

test('the life of a resource: discovered, touched, updated, struck three times, deleted, restored', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  await sweepAll(bundle)
  const { body } = await bundle.call('GET', '/api/v1/inventory?kind=droplet')
  const droplet = body.data[0]
  const events = () => eventsOf(bundle, droplet.id)
  const start = (await events()).length

  await control(bundle, 'PATCH', `/resources/droplet/${droplet.provider_id}`, { memory: 4242 })
  const updated = (await sweepAll(bundle)).get('droplet')
  assert.equal(updated?.updated, 1)
  const changed = await bundle.call('GET', `/api/v1/inventory/${droplet.id}`)
  assert.deepEqual(changed.body.data.events[0].changes, {
    'attrs.memory': { before: droplet.attrs.memory, after: 4242 },
  })

  await control(bundle, 'DELETE', `/resources/droplet/${droplet.provider_id}`)
  for (const strikes of [1, 2]) {
    const run = (await sweepAll(bundle)).get('droplet')
    assert.deepEqual([run?.struck, run?.deleted], [1, 0])
    const row = await find(bundle, droplet.name)
    assert.deepEqual([row.stale_strike_count, row.deleted_at], [strikes, null])
  }
  assert.equal((await sweepAll(bundle)).get('droplet')?.deleted, 1)
  const gone = await find(bundle, droplet.name)
  assert.equal(gone.stale_strike_count, 3)
  assert.notEqual(gone.deleted_at, null)
  const listed = await bundle.call('GET', `/api/v1/inventory?name=${droplet.name}`)
  assert.deepEqual(listed.body.data, [])
  assert.equal((await sweepAll(bundle)).get('droplet')?.struck, 0, 'a deleted resource is not struck again')

  await control(bundle, 'POST', '/resources/droplet', { id: Number(droplet.provider_id), name: droplet.name })
  assert.equal((await sweepAll(bundle)).get('droplet')?.restored, 1)
  const back = await find(bundle, droplet.name)
  assert.deepEqual([back.id, back.stale_strike_count, back.deleted_at], [droplet.id, 0, null])
  assert.equal(back.first_seen_at, droplet.first_seen_at)
  // The provider put the new droplet into its default project, so it may move after that.
  assert.deepEqual((await events()).slice(start, start + 3), ['updated', 'deleted', 'restored'])
})
