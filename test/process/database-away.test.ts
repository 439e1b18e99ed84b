// The database goes away for ten seconds under two processes, on a cluster of the test's own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../../scripts/throwaway-postgres.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import type { Answer } from '../support/http.ts'
import { startService } from '../support/process.ts'

const AWAY_MS = 10_000
const BACK_WITHIN_MS = 5_000
const MADE_UP_WITHIN_MS = 60_000
const tasks = '/api/v1/admin/scheduled_tasks'
const task = `${tasks}/housekeeping`
const missed = ['subscription_periods', 'drift_detection']

test(
  'while the database is away it answers 503, within 5 s of its return everything works again, and ticks it met are made up for',
  onPostgresAlone,
  async t => {
    const postgres = await startPostgres()
    t.after(() => postgres.remove())
    const env = { DATABASE_URL: postgres.url, LOG_LEVEL: 'error' }
    const nodes = await Promise.all([1, 2].map(() => startService(t, { env })))
    const everywhere = <T>(ask: (node: (typeof nodes)[number]) => Promise<T>) => Promise.all(nodes.map(ask))

    // The monthly tick of one task and the hourly of another fall into the outage.
    const sql = new pg.Client({ connectionString: postgres.url })
    await sql.connect()
    // The throwaway cluster would forget it when it is stopped the hard way a moment later.
    await sql.query('set synchronous_commit = on')
    await sql.query(
      `update scheduled_tasks set next_run_at = now() + interval '4 seconds' where name = any($1::text[])`,
      [missed],
    )
    await sql.end()

    await postgres.stop('immediate')
    const until = Date.now() + AWAY_MS
    while (Date.now() < until) {
      for (const path of ['/api/health', tasks]) {
        for (const answer of await everywhere(node => node.call('GET', path))) assertAway(answer)
      }
      for (const answer of await everywhere(node => node.call('POST', `${task}/run`))) assertAway(answer)
      for (const status of await everywhere(node => node.ready())) assert.equal(status, 503)
      await pause(200)
    }

    await postgres.start()
    const returned = Date.now()
    const since = () => Date.now() - returned
    await eventually('both answer again', async () => {
      const answers = [
        ...(await everywhere(node => node.call('GET', '/api/health'))),
        ...(await everywhere(node => node.call('GET', tasks))),
      ]
      return answers.every(answer => answer.status === 200)
    })
    const answering = since()
    const run = await nodes[0]!.call('POST', `${task}/run`)
    assert.equal(run.status, 202)
    await eventually('a job runs again', async () => {
      const { body } = await nodes[1]!.call('GET', `${task}/runs/${run.body.data.id}`)
      return body.data.status === 'completed'
    })
    const running = since()
    t.diagnostic(`answering after ${answering} ms, running jobs after ${running} ms`)
    assert.ok(running < BACK_WITHIN_MS, `recovered after ${running} ms`)
    for (const name of missed)
      await eventually(
        `${name} is made up for`,
        async () => {
          const { body } = await nodes[0]!.call('GET', `${tasks}/${name}/runs`)
          return body.data.some(
            (run: { trigger: string; status: string }) =>
              run.trigger === 'schedule' && run.status === 'completed',
          )
        },
        MADE_UP_WITHIN_MS,
      )
    t.diagnostic(`missed ticks made up for after ${since()} ms`)
    for (const exit of await everywhere(node => node.stop()))
      assert.deepEqual(exit, { code: 0, signal: null })
  },
)

function assertAway({ status, headers, body }: Answer): void {
  assert.equal(status, 503)
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.equal(body.code, 'unavailable')
}
