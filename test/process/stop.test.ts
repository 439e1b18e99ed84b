import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createPostgresDatabase } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { lasting } from '../support/lasting.ts'
import { type Service, type ServiceOptions, spawnService, startService } from '../support/process.ts'

const tasks = '/api/v1/admin/scheduled_tasks'
const done = { code: 0, signal: null }

describe('stopping', () => {
  const file = lasting({ after })
  // The tests of this file go on where the one before stopped, on one database, for each start takes seconds.
  let where: ServiceOptions
  let requested: string
  before(async () => {
    if (onPostgresAlone.skip) return
    const database = await createPostgresDatabase()
    file.after(database.drop)
    where = { env: { DATABASE_URL: database.url } }
  })

  test(
    'under load SIGTERM cuts no request, neither on kept connections nor on new ones',
    onPostgresAlone,
    async t => {
      const env = { ...where.env, LOG_LEVEL: 'warn', RATE_LIMIT_PER_MINUTE: '0' }
      const service = await startService(t, { ...where, env })
      const token = await service.token()
      const outcomes = new Map<string, number>()
      const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      const callers = Array.from({ length: 30 }, async (_, index) => {
        // Ten of them open a connection for every request.
        const agent = index < 20 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false
        for (;;) {
          try {
            const { status, body } = await send('GET', service.url + tasks, { token, agent })
            count(status === 200 && body.data.length > 0 ? 'answered' : String(status))
          } catch (error) {
            if (agent) agent.destroy()
            return count((error as NodeJS.ErrnoException).code ?? String(error))
          }
        }
      })
      await eventually('the load flows', async () => (outcomes.get('answered') ?? 0) > 100)
      requested = (await service.call('POST', `${tasks}/housekeeping/run`)).body.data.id
      assert.deepEqual(await service.stop(), done)
      await Promise.all(callers)
      const { answered, ...others } = Object.fromEntries(outcomes)
      t.diagnostic(`${answered} answered`)
      assert.deepEqual(others, { ECONNREFUSED: 30 })
    },
  )

  test(
    'a run asked for just before SIGTERM is done once, and a request in flight is answered while /ready fails',
    onPostgresAlone,
    async t => {
      const service = await startService(t, where)
      const run = await eventually('the run is over', async () => {
        const { data } = (await service.call('GET', `${tasks}/housekeeping/runs/${requested}`)).body
        return data.finished_at !== null && data
      })
      assert.deepEqual([run.status, run.attempts], ['completed', 1])

      const request = await halfRequest(service)
      const exit = service.stop()
      await eventually('/ready fails', async () => (await service.ready()) === 503)
      assert.match(await request.finish(), /^HTTP\/1\.1 200 .*connection: close.*"paused":true/is)
      assert.deepEqual(await exit, done)
    },
  )

  test(
    'a signal that comes with the first answer, before everything is started, still stops it in order',
    onPostgresAlone,
    async t => {
      const service = await spawnService(t, where)
      await eventually('the first answer', async () => {
        return (await service.call('GET', '/api/health').catch(() => undefined))?.status === 200
      })
      assert.deepEqual(await service.stop(), done)
    },
  )

  test('a second signal ends it at once', onPostgresAlone, async t => {
    const service = await startService(t, where)
    await halfRequest(service)
    service.stop()
    await eventually('/ready fails', async () => (await service.ready()) === 503)
    assert.deepEqual(await service.stop(), { code: 1, signal: null })
  })
})

/** A request whose body is still on its way. */
async function halfRequest(service: Service): Promise<{ finish(): Promise<string> }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8')
  const head = [
    `POST ${tasks}/housekeeping/pause HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${await service.token()}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    // Its answer tells that the request has reached the service.
    'Expect: 100-continue',
  ]
  let answer = ''
  socket.on('data', chunk => {
    answer += chunk
  })
  socket.on('error', () => {})
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  assert.match(answer, /^HTTP\/1\.1 100 /)
  answer = ''
  return {
    finish: async () => {
      socket.write('{}')
      await once(socket, 'close')
      return answer
    },
  }
}
