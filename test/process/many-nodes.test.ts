// Several processes on one PostgreSQL.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createPostgresDatabase } from '../support/database.ts'
import { needsPostgres, onPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { lasting } from '../support/lasting.ts'
import { runCommand, type Service, secrets, startService } from '../support/process.ts'

const tasks = '/api/v1/admin/scheduled_tasks'
const task = `${tasks}/housekeeping`

describe('several processes on one database', () => {
  const file = lasting({ after })
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>
  let sql: pg.Client
  // Inside a transaction pg_stat_activity stands still, so the one that holds locks cannot see who waits.
  let observer: pg.Client
  before(async () => {
    if (!onPostgres) return
    database = await createPostgresDatabase({ migrated: false })
    file.after(database.drop)
    sql = new pg.Client({ connectionString: database.url, application_name: 'test' })
    observer = new pg.Client({ connectionString: database.url, application_name: 'test' })
    await Promise.all([sql.connect(), observer.connect()])
    file.after(async () => void (await Promise.all([sql.end(), observer.end()])))
  })
  const waiting = async (query: string) => {
    const { rowCount } = await observer.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`${query}%`],
    )
    return rowCount ?? 0
  }
  test('migrations are pending until they are applied', needsPostgres, async t => {
    const empty = await createPostgresDatabase({ migrated: false })
    t.after(empty.drop)
    const run = (...args: string[]) =>
      runCommand(['migrate', ...args], { env: { ...secrets, DATABASE_URL: empty.url } })
    const before = await run('status')
    assert.equal(before.code, 1)
    assert.match(before.stdout, /^0001 +scheduled_tasks +pending/m)
    assert.match(before.stderr, /pending/)

    const first = await run()
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^applied 0001 scheduled_tasks$/m)
    const last = await run('status')
    assert.equal(last.code, 0, last.stderr)
    assert.match(last.stdout, /^0001 +scheduled_tasks +applied +\d{4}-\d\d-\d\dT/m)
  })

  const nodes: Service[] = []
  const env = () => ({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' })
  const startThree = async () => {
    nodes.splice(
      0,
      nodes.length,
      ...(await Promise.all([1, 2, 3].map(() => startService(file, { env: env() })))),
    )
  }

  test('three processes started together on an empty database all come up', needsPostgres, async () => {
    await startThree()
    for (const node of nodes) {
      assert.equal((await node.call('GET', tasks)).status, 200)
      const warnings = node
        .output()
        .split('\n')
        .filter(line => line !== '' && !line.includes('SIMULATED'))
      assert.deepEqual(warnings, [], 'nothing to warn about but the sandbox')
    }
    const { rows } = await sql.query('select count(*)::int as count from schema_migrations group by version')
    assert.ok(rows.every(row => row.count === 1))
  })

  test('a port that is taken is named, with the way out', needsPostgres, async () => {
    const { port } = new URL(nodes[0]!.url)
    const { code, stderr } = await runCommand(['api'], { env: { ...secrets, ...env(), PORT: port } })
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`:${port}\\. Another process listens there: .*set PORT`))
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack')
  })

  test('migrating a database that is up to date changes nothing', needsPostgres, async () => {
    const { code, stdout } = await runCommand(['migrate'], { env: { ...secrets, ...env() } })
    assert.deepEqual([code, stdout], [0, 'Nothing to apply: the database is up to date.\n'])
  })

  test(
    'of requests for a run at the same moment on three processes one is taken, the others conflict',
    needsPostgres,
    async () => {
      // The requests take the task's row one after another; held here, all of them are under way before one is done.
      await sql.query('begin')
      await sql.query('select 1 from scheduled_tasks for update')
      const answers = nodes.map(node => node.call('POST', `${task}/run`))
      await eventually('all three wait', async () => (await waiting('select * from "scheduled_tasks"')) === 3)
      await sql.query('commit')
      const statuses = (await Promise.all(answers)).map(answer => answer.status)
      assert.deepEqual(statuses.sort(), [202, 409, 409])
    },
  )

  test(
    'a backend that is terminated in the middle of requests takes no process down',
    needsPostgres,
    async () => {
      const node = nodes[0]!
      const outcomes = new Map<number, number>()
      let stopped = false
      const callers = Array.from({ length: 8 }, async () => {
        while (!stopped) {
          const { status } = await node.call('POST', `${task}/pause`)
          outcomes.set(status, (outcomes.get(status) ?? 0) + 1)
        }
      })
      for (let round = 1; round <= 10; round++) {
        const before = outcomes.get(200) ?? 0
        await eventually('requests flow', async () => (outcomes.get(200) ?? 0) > before + 10)
        await sql.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'test'",
        )
      }
      stopped = true
      await Promise.all(callers)
      assert.deepEqual(
        [...outcomes.keys()].filter(status => status !== 200 && status !== 503),
        [],
      )
      assert.equal((await node.call('POST', `${task}/resume`)).status, 200)
      for (const one of nodes) assert.equal(await one.ready(), 200)
    },
  )

  test(
    'what was asked under keys of a process that is killed is done once, and the others have the answers',
    needsPostgres,
    async () => {
      const doomed = nodes.pop()!
      const authorization = `Bearer ${await doomed.token()}`
      const asked = Array.from({ length: 60 }, (_, n) => n)
      const create = async ({ url }: Service, n: number) => {
        const answer = await fetch(`${url}/api/v1/users/ada/api_keys`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `killed ${n}` },
          body: JSON.stringify({ description: `key ${n}` }),
        })
        return { status: answer.status, text: await answer.text() }
      }
      const first = asked.map(n => create(doomed, n).catch(() => undefined))
      await Promise.any(first)
      await doomed.kill()
      const heard = await Promise.all(first)
      const again = await Promise.all(asked.map(n => create(nodes[n % nodes.length]!, n)))
      for (const [n, answer] of again.entries()) {
        assert.equal(answer.status, 201, answer.text)
        if (heard[n]?.status === 201) assert.equal(answer.text, heard[n].text)
      }
      const { rows } = await sql.query('select count(*)::int as count from api_keys')
      assert.equal(rows[0].count, asked.length)
    },
  )

  test('a job in flight at SIGTERM is finished before the process ends', needsPostgres, async () => {
    const [leaving, ...others] = nodes.splice(0)
    for (const other of others) assert.deepEqual(await other.stop(), { code: 0, signal: null })
    await eventually('no run is under way', async () => {
      const { data } = (await leaving!.call('GET', task)).body
      return data.last_run === null || data.last_run.finished_at !== null
    })
    // Housekeeping deletes old runs: a lock on one holds it in the middle of its work.
    await sql.query(
      `insert into task_runs (id, task, trigger, status, requested_at)
       values (gen_random_uuid(), 'housekeeping', 'manual', 'completed', now() - interval '1 year')`,
    )
    await sql.query('begin')
    await sql.query("select 1 from task_runs where requested_at < now() - interval '90 days' for update")
    const { status, body } = await leaving!.call('POST', `${task}/run`)
    assert.equal(status, 202)
    await eventually('the job waits', async () => (await waiting('delete from "task_runs"')) === 1)
    const exit = leaving!.stop()
    await eventually('it is told to stop', async () => (await leaving!.ready()) === 503)
    await sql.query('commit')
    assert.deepEqual(await exit, { code: 0, signal: null })
    const { rows } = await sql.query('select status, attempts from task_runs where id = $1', [body.data.id])
    assert.deepEqual(rows, [{ status: 'completed', attempts: 1 }])
  })

  test(
    'a tick missed while no process ran is made up for once, by three processes together',
    needsPostgres,
    async () => {
      // As if the last process had stopped two days ago.
      await sql.query("update scheduled_tasks set next_run_at = now() - interval '2 days'")
      await sql.query('truncate task_runs')
      await startThree()
      const scheduled = async () =>
        (
          await sql.query(
            "select status, attempts from task_runs where trigger = 'schedule' and task = 'housekeeping'",
          )
        ).rows
      await eventually('the tick has run', async () =>
        (await scheduled()).some(run => run.status === 'completed'),
      )
      // Every process has looked at the schedule by now: each does so at its start.
      await eventually('nothing is queued', async () => {
        const { rows } = await sql.query(
          "select count(*)::int as open from pgboss.job where name = 'metering' and state < 'completed'",
        )
        return rows[0].open === 0
      })
      assert.deepEqual(await scheduled(), [{ status: 'completed', attempts: 1 }])
      for (const node of nodes) assert.deepEqual(await node.stop(), { code: 0, signal: null })
      assert.equal((await scheduled()).length, 1)
    },
  )

  test(
    'a node whose machine’s clock is five minutes ahead goes by the database’s time, and warns',
    needsPostgres,
    async t => {
      const ahead = `const Right = Date
      globalThis.Date = class extends Right {
        constructor(...given) { given.length > 0 ? super(...given) : super(Right.now() + 300_000) }
        static now() { return Right.now() + 300_000 }
      }`
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(ahead)}`
      const node = await startService(t, { env: { ...env(), NODE_OPTIONS }, command: 'api' })
      assert.match(node.output(), /clock differs from the database/)
      const soon = Math.floor(Date.now() / 1000) + 60
      const good = await node.call('GET', tasks, { token: await node.token({ exp: soon }) })
      assert.equal(good.status, 200, 'by the machine’s clock it would have expired')
      assert.equal((await node.call('POST', `${task}/pause`)).status, 200)
      const { rows } = await sql.query(
        'select abs(extract(epoch from now() - paused_at)) < 60 as in_time from scheduled_tasks where paused_at is not null',
      )
      assert.deepEqual(rows, [{ in_time: true }])
    },
  )
})
