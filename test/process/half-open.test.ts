// Connections to the database that stop answering without being closed, under an API and a worker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPostgresDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/process.ts'

const RECOVERED_WITHIN_MS = 30_000
const tasks = '/api/v1/admin/scheduled_tasks'
const task = `${tasks}/housekeeping`

test(
  'when connections freeze it answers 503 and is not ready, and recovers by itself while they stay frozen',
  onPostgresAlone,
  async t => {
    const database = await createPostgresDatabase()
    t.after(() => database.drop())
    const proxy = await startDatabaseProxy({ upstream: database.url })
    t.after(() => proxy.close())
    const env = { DATABASE_URL: proxy.url(database.url), LOG_LEVEL: 'error', DATABASE_STATEMENT_SECONDS: '4' }
    const [api, worker] = await Promise.all(
      (['api', 'worker'] as const).map(command => startService(t, { env, command })),
    )
    const began = Date.now()
    const since = (from: number) => `${((Date.now() - from) / 1000).toFixed(1)} s`
    const runs = async () => {
      const { status, body } = await api!.call('POST', `${task}/run`)
      assert.equal(status, 202)
      return async () =>
        (await api!.call('GET', `${task}/runs/${body.data.id}`)).body.data?.status === 'completed'
    }
    await eventually('a job runs', await runs())
    // More connections than one are in the pool when it happens.
    await Promise.all(Array.from({ length: 8 }, () => api!.call('GET', tasks)))

    proxy.freeze('frozen')
    const frozen = Date.now()
    const answers = await Promise.all(
      ['GET', 'GET', 'POST'].map(method => api!.call(method, method === 'GET' ? tasks : `${task}/run`)),
    )
    for (const { status, body } of answers) assert.deepEqual([status, body.code], [503, 'unavailable'])
    t.diagnostic(`503 after ${since(frozen)}`)
    for (const node of [api!, worker!]) assert.equal(await node.ready(), 503)
    assert.equal((await api!.call('GET', '/api/health')).status, 503)
    t.diagnostic(`not ready after ${since(frozen)}`)

    // New connections work again; those that were frozen stay so for good.
    proxy.freeze('served')
    const back = Date.now()
    await eventually(
      'the API answers',
      async () => (await api!.call('GET', tasks)).status === 200,
      RECOVERED_WITHIN_MS,
    )
    t.diagnostic(`answers again after ${since(back)}`)
    const ran = await runs()
    await eventually('a job runs again', ran, RECOVERED_WITHIN_MS)
    t.diagnostic(`a job has run after ${since(back)}`)
    for (const node of [api!, worker!]) assert.equal(await node.ready(), 200)
    t.diagnostic(`${proxy.counters.frozenConnections} connections were frozen; ${since(began)} in all`)
  },
)
