// What whole sweeps no longer see is told at once, and kinds that the account does not have are told from those that fail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { addResource, removeResource } from '../../sandbox/world/world.ts'
import { isRefusal, refusedStatus } from '../../src/features/inventory/sync-run.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { setup } from '../support/setup.ts'
import { eventsOf, refresh, rowOf, sweepAll, sweepOne } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

test('the first sweep that misses a resource says since when, lists it and tells webhooks once, with no event', async t => {
  const bundle = await setup(t, { provider: {}, env: allowPrivate })
  const { call, clock, sandbox, ctx } = bundle
  await webhook(bundle, { url: 'http://127.0.0.1:9/hook', events: ['resource.missing'] })
  await sweepOne(bundle, 'volume')
  const volume = sandbox.world.shelves.volume.at(0)!
  const { id } = await rowOf(bundle, 'volume', volume.id)
  const missing = async () => (await call('GET', '/api/v1/inventory?missing=true')).body.data
  const told = () => ctx.db.selectFrom('webhook_events').select(['type', 'data']).execute()
  assert.deepEqual(await missing(), [])

  removeResource(sandbox.world, 'volume', volume.id)
  await sweepOne(bundle, 'volume')
  const since = clock.now().toISOString()
  await sweepOne(bundle, 'volume')
  const listed = await missing()
  assert.deepEqual(
    listed.map((row: { id: string; missing_since: string }) => [row.id, row.missing_since]),
    [[id, since]],
    'the second strike changes nothing',
  )
  assert.deepEqual((await call('GET', '/api/v1/inventory?missing=true&kind=droplet')).body.data, [])
  const detail = await call('GET', `/api/v1/inventory/${id}`)
  assert.equal(detail.body.data.missing_since, since)
  const [event, ...more] = await told()
  assert.deepEqual([event?.type, more], ['resource.missing', []])
  const data = event!.data as { resource: { id: string; missing_since: string }; event?: object }
  assert.deepEqual([data.resource.id, data.resource.missing_since, data.event], [id, since, undefined])
  assert.deepEqual(
    (await eventsOf(bundle, 'volume', volume.id)).map(({ kind }) => kind),
    ['discovered'],
  )

  addResource(sandbox.world, 'volume', volume, { now: clock.now() })
  await refresh(bundle, 'volume', volume.id)
  assert.deepEqual(await missing(), [])
  assert.equal((await call('GET', `/api/v1/inventory/${id}`)).body.data.missing_since, null)

  removeResource(sandbox.world, 'volume', volume.id)
  for (const _ of [1, 2, 3]) await sweepOne(bundle, 'volume')
  assert.deepEqual(await missing(), [], 'what is deleted is no longer missing')
  assert.equal((await told()).length, 2, 'it was missed again, and told again')
})

test('a tenant is shown its own missing resources alone', async t => {
  const bundle = await setup(t, { provider: {} })
  const { call, tokens, ctx } = bundle
  await sweepOne(bundle, 'volume')
  await sql`update cloud_resources set stale_strike_count = 1, tenant_id = case when provider_id = (
    select min(provider_id) from cloud_resources) then 'acme' else 'globex' end`.execute(ctx.db)
  const { body } = await call('GET', '/api/v1/inventory?missing=true', { token: await tokens.tenant('acme') })
  assert.deepEqual(
    body.data.map((row: { tenant_id: string }) => row.tenant_id),
    ['acme'],
  )
})

test(
  'a kind that the provider refuses for a day is unavailable with the reason, and the task says how many are',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {}, worker: true })
    const { call, clock, sandbox } = bundle
    const refuse = (status: number) => {
      sandbox.faults.clear()
      sandbox.faults.add({
        fault: 'server_error',
        status,
        times: 'always',
        match: { path: '/v2/registries' },
      })
    }
    const resultOf = async (sweepId: string) =>
      (await call('GET', `/api/v1/admin/scheduled_tasks/resource_sync/runs/${sweepId}`)).body.data.result
    refuse(403)
    const first = (await sweepAll(bundle)).get('registry')!
    assert.deepEqual([first.status, first.refused_since], ['failed', first.started_at])
    const whole = { kinds: 15, complete: 14, partial: 0, failed: 0, unavailable: 0 }
    assert.deepEqual(await resultOf(first.sweep_id), { ...whole, failed: 1 })
    refuse(412)
    clock.advance(22 * 3_600_000)
    const almost = await sweepOne(bundle, 'registry')
    assert.equal(almost.status, 'failed')
    const day = await sweepAll(bundle)
    const last = day.get('registry')!
    assert.deepEqual([last.status, last.refused_since], ['unavailable', first.started_at])
    assert.match(last.error!, /412/)
    assert.deepEqual(await resultOf(last.sweep_id), { ...whole, unavailable: 1 })
    const listed = await call('GET', '/api/v1/inventory/sync-runs?status=unavailable')
    assert.deepEqual(
      listed.body.data.map(({ kind }: { kind: string }) => kind),
      ['registry'],
    )

    refuse(500)
    const broken = await sweepOne(bundle, 'registry')
    assert.deepEqual([broken.status, broken.refused_since], ['failed', null], 'an outage is no refusal')
    refuse(404)
    assert.equal((await sweepOne(bundle, 'registry')).status, 'failed', 'the row of refusals begins anew')
  },
)

test('403, 404 and 412 are refusals, and a day of them is exactly a day', () => {
  const refusals = [null, 200, 400, 401, 403, 404, 409, 412, 429, 500].filter(isRefusal)
  assert.deepEqual(refusals, [403, 404, 412])
  const since = '2026-11-15T08:15:00.000Z'
  assert.equal(refusedStatus(since, '2026-11-16T08:14:59.999Z'), 'failed')
  assert.equal(refusedStatus(since, '2026-11-16T08:15:00.000Z'), 'unavailable')
})
