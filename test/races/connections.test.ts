// What becomes of statements that take too long, and of connections that stop answering.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { completeStep } from '../../src/features/sagas/drive-store.ts'
import { withLongStatements } from '../../src/kernel/db/connection.ts'
import type { Engine } from '../../src/kernel/db/engine.ts'
import { problemOfDatabaseError, sqlState } from '../../src/kernel/db/errors.ts'
import { migrate, readMigrations } from '../../src/kernel/db/migrations.ts'
import { openPostgres, type PostgresOptions } from '../../src/kernel/db/postgres.ts'
import { runLast } from '../../src/kernel/db/statement.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { lasting, type Owner } from '../support/lasting.ts'
import { needsPgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { setup } from '../support/setup.ts'

const SAGA_TABLES = ['saga_runs', 'saga_step_results']
const silent = pino({ level: 'silent' })

type T = Owner

async function databaseOf(t: T) {
  const { after: undo } = lasting(t)
  const { url, drop } = await createPostgresDatabase()
  undo(drop)
  const open = (options: Partial<PostgresOptions> = {}): Engine => {
    const engine = openPostgres({ url, poolSize: 4, log: silent, ...options })
    undo(() => engine.close())
    return engine
  }
  return { undo, url, open }
}

const answer = async ({ db }: Pick<Engine, 'db'>, n: number) =>
  (await sql<{ n: number }>`select ${n}::int as n`.execute(db)).rows[0]?.n
const codeOf = (error: unknown) => problemOfDatabaseError(error)?.code
const working = async (engine: Engine) =>
  (
    await sql`select 1 from pg_stat_activity where datname = current_database() and query like 'select pg_sleep%'
      and state = 'active'`.execute(engine.db)
  ).rows.length

test(
  'a statement that takes too long is ended on the server and told as such, and its connection goes on',
  needsPostgres,
  async t => {
    const { open } = await databaseOf(t)
    const engine = open({ poolSize: 1, statementMs: 1_000 })
    const backend = async () => (await sql`select pg_backend_pid() as pid`.execute(engine.db)).rows[0]
    const before = await backend()
    await assert.rejects(sql`select pg_sleep(60)`.execute(engine.db), e => codeOf(e) === 'query_timeout')
    assert.equal(await working(engine), 0)
    assert.deepEqual(await backend(), before)
    // Whoever says so may take longer, and who comes after on the same connection may not.
    await withLongStatements(() => sql`select pg_sleep(1.5)`.execute(engine.db))
    await assert.rejects(
      transaction(engine.db, tx => sql`select pg_sleep(60)`.execute(tx)),
      e => codeOf(e) === 'query_timeout',
    )
  },
)

/** A single connection through the proxy, which has had a transaction before, and a table of numbers that differ. */
async function warmed(t: T) {
  const { undo, url, open } = await databaseOf(t)
  const proxy = await startDatabaseProxy({ upstream: url })
  undo(() => proxy.close())
  const { db } = open({ url: proxy.url(url), poolSize: 1, pooler: 'none' })
  await sql`create table numbers (n int primary key)`.execute(db)
  const put = (executor: typeof db, n: number) => sql`insert into numbers values (${n})`.execute(executor)
  const putLast = (tx: typeof db, n: unknown) =>
    runLast(tx, { name: 'put_last', text: 'insert into numbers values ($1)' }, [n])
  await transaction(db, tx => put(tx, 1))
  const numbers = async () =>
    (await sql<{ n: number }>`select n from numbers order by n`.execute(db)).rows.map(({ n }) => n)
  const roundTrips = async (work: () => Promise<unknown>) => {
    const before = proxy.counters.answers
    await work()
    return proxy.counters.answers - before
  }
  return { db, put, putLast, numbers, roundTrips }
}

test(
  'a transaction begins with its first statement, without a round trip of its own',
  needsPostgres,
  async t => {
    const { db, put, numbers, roundTrips } = await warmed(t)
    const two = () =>
      transaction(db, async tx => {
        await put(tx, 2)
        await put(tx, 3)
      })
    assert.equal(await roundTrips(two), 3, 'two statements and the commit')
    assert.equal(await roundTrips(() => transaction(db, async () => {})), 0)
    const script = () => transaction(db, tx => sql`insert into numbers values (4)`.execute(tx))
    assert.equal(await roundTrips(script), 3, 'a text without values may be several statements')
    assert.deepEqual(await numbers(), [1, 2, 3, 4])
  },
)

test(
  'what is known to be the last statement of a transaction is sent with its commit',
  needsPostgres,
  async t => {
    const { db, put, putLast, numbers, roundTrips } = await warmed(t)
    const both = () =>
      transaction(db, async tx => {
        await put(tx, 2)
        await putLast(tx, 3)
      })
    assert.equal(await roundTrips(both), 2)
    assert.equal(await roundTrips(() => transaction(db, tx => putLast(tx, 4))), 1, 'with begin and commit')
    const notTheLast = () =>
      transaction(db, async tx => {
        await putLast(tx, 5)
        await putLast(tx, 6)
        await put(tx, 7)
      })
    assert.equal(await roundTrips(notTheLast), 4)
    assert.deepEqual(await numbers(), [1, 2, 3, 4, 5, 6, 7])
    const failing = transaction(db, async tx => {
      await put(tx, 8)
      await putLast(tx, 1)
    })
    await assert.rejects(failing, error => sqlState(error) === '23505')
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const unwritable = transaction(db, async tx => {
      await put(tx, 8)
      await putLast(tx, circle)
    })
    await assert.rejects(unwritable, /circular/)
    const thrown = transaction(db, async tx => {
      await put(tx, 8)
      await putLast(tx, 9)
      throw new Error('late')
    })
    await assert.rejects(thrown, /late/)
    await put(db, 10)
    assert.deepEqual(await numbers(), [1, 2, 3, 4, 5, 6, 7, 10], 'all of a transaction or nothing')
  },
)

test(
  'a transaction that fails by its first statement, or before it, leaves nothing',
  needsPostgres,
  async t => {
    const { db, put, numbers, roundTrips } = await warmed(t)
    await assert.rejects(
      transaction(db, async tx => {
        await put(tx, 1).catch(() => {})
        await put(tx, 2)
      }),
      /current transaction is aborted/,
    )
    const early = () =>
      assert.rejects(
        transaction(db, () => Promise.reject(new Error('early'))),
        /early/,
      )
    assert.equal(await roundTrips(early), 0)
    await assert.rejects(
      transaction(db, async tx => {
        await put(tx, 2)
        throw new Error('late')
      }),
      /late/,
    )
    await put(db, 5)
    assert.deepEqual(await numbers(), [1, 5], 'and what comes after is a transaction by itself')
  },
)

for (const analyzed of [false, true])
  test(
    `a plan made for an empty table${analyzed ? ', known to be empty,' : ''} is not kept once the table has grown`,
    needsPostgres,
    async t => {
      const { open } = await databaseOf(t)
      const { db } = open({ poolSize: 1, plansLastMs: 0 })
      // Of its own: a session's statistics are not told apart by its transactions.
      const { db: other } = open()
      for (const table of SAGA_TABLES) {
        await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(other)
        if (analyzed) await sql`vacuum analyze ${sql.table(table)}`.execute(other)
      }
      const hold = { id: randomUUID(), claim: randomUUID(), write: randomUUID(), jobId: null }
      const step = { index: 0, context: null, output: null, last: false, undoFrom: null }
      // A session keeps the plan of a statement from its sixth run on.
      for (let time = 0; time < 8; time++) await completeStep(db, hold, step)
      await sql`
        insert into saga_runs (id, kind, status, step_modules, inputs, business_key, actor, job_id, claim, heartbeat_at, created_at)
        select case n when 1 then ${hold.id}::uuid else gen_random_uuid() end, 'grown', 'running', '{a,b}', '{}', n, 'test',
          gen_random_uuid(), ${hold.claim}::uuid, now(), now() from generate_series(1, 5000) n`.execute(other)
      await sql`
        insert into saga_step_results (saga_id, step_idx, name, status, started_at)
        select id, 0, 'a', 'running', now() from saga_runs`.execute(other)
      const read = await transaction(db, async tx => {
        assert.equal((await completeStep(tx, hold, step))?.status, 'running')
        const { rows } = await sql<{ n: number }>`
          select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_xact_user_tables
          where relname = any(${SAGA_TABLES})`.execute(tx)
        return rows[0]!.n
      })
      assert.ok(read < 50, `a step of one run read ${read} rows`)
    },
  )

test('behind a pooler a statement that takes too long is ended as well', needsPgbouncer, async t => {
  const { url, open } = await databaseOf(t)
  const engine = open({ url: await startPgbouncer(t, url), poolSize: 1, statementMs: 1_000 })
  await assert.rejects(sql`select pg_sleep(60)`.execute(engine.db), e => codeOf(e) === 'query_timeout')
  assert.equal(engine.isPooled(), true)
  await assert.rejects(
    transaction(engine.db, tx => sql`select pg_sleep(60)`.execute(tx)),
    e => codeOf(e) === 'query_timeout',
  )
  assert.equal(await working(open()), 0)
  assert.equal(await answer(engine, 7), 7)
})

test(
  'a connection that stopped answering is never used again, nor are those that were idle beside it',
  needsPostgres,
  async t => {
    const { url, open } = await databaseOf(t)
    const proxy = await startDatabaseProxy({ upstream: url })
    const engine = open({ url: proxy.url(url), statementMs: 1_000 })
    t.after(() => proxy.close())
    await Promise.all([1, 2, 3, 4].map(n => answer(engine, n)))
    assert.equal(engine.pool()?.idle, 4)
    proxy.freeze('served')
    await assert.rejects(answer(engine, 5), e => codeOf(e) === 'unavailable')
    await eventually('the frozen ones are gone', async () => engine.pool()?.total === 0)
    // Their answers still come: nobody may take them for the next statement's.
    proxy.thaw()
    assert.deepEqual(await Promise.all([6, 7, 8, 9].map(n => answer(engine, n))), [6, 7, 8, 9])

    // In the middle of a transaction too, and it takes no longer to undo what cannot be undone.
    await assert.rejects(
      transaction(engine.db, async tx => {
        await sql`select 1`.execute(tx)
        proxy.freeze('served')
        await sql`select 2`.execute(tx)
      }),
      e => codeOf(e) === 'unavailable',
    )
    assert.equal(await answer(engine, 10), 10)
  },
)

test('an idle connection that froze is found before it is handed out', needsPostgres, async t => {
  const { url, open } = await databaseOf(t)
  const proxy = await startDatabaseProxy({ upstream: url })
  const engine = open({ url: proxy.url(url), statementMs: 60_000 })
  t.after(() => proxy.close())
  await Promise.all([1, 2, 3].map(n => answer(engine, n)))
  const answered = Date.now()
  await eventually('they are no longer taken to be alive', async () => Date.now() - answered > 2_000)
  proxy.freeze('served')
  assert.deepEqual(await Promise.all([4, 5, 6, 7].map(n => answer(engine, n))), [4, 5, 6, 7])
})

test(
  'a long statement is left alone while the server works on it, and given up when its answer was lost',
  needsPostgres,
  async t => {
    const { url, open } = await databaseOf(t)
    const proxy = await startDatabaseProxy({ upstream: url })
    t.after(() => proxy.close())
    const [engine, other] = [open({ url: proxy.url(url) }), open()]
    const sleep = (on: Engine, seconds: number) =>
      withLongStatements(() => sql`select pg_sleep(${seconds}::float)`.execute(on.db))
    const lost = assert.rejects(sleep(engine, 0.5), e => codeOf(e) === 'unavailable')
    await eventually('the server works on it', async () => (await working(other)) === 1)
    proxy.freeze('served')
    await Promise.all([lost, sleep(other, 11)])
  },
)

test(
  'a migration takes as long as it takes, and another node waits for it and says so',
  needsPostgres,
  async t => {
    const { undo, open } = await databaseOf(t)
    const [one, two] = [open({ statementMs: 1_000 }), open({ statementMs: 1_000 })]
    const version = readMigrations().length + 1
    const migrations = [
      ...readMigrations(),
      { version, name: 'slow', sql: 'select pg_sleep(7); create table slow ();', checksum: 'a' },
      { version: version + 1, name: 'after', sql: 'create table after ()', checksum: 'b' },
    ]
    undo(() => sql`drop table if exists slow, after`.execute(one.db).then(() => {}))
    const said: string[] = []
    const log = pino({ level: 'warn' }, { write: line => void said.push(JSON.parse(line).msg) })
    const applied = await Promise.all(
      [one, two].map(engine => migrate(engine, systemClock, { migrations, log })),
    )
    assert.deepEqual(
      applied
        .flat()
        .map(({ name }) => name)
        .sort(),
      ['after', 'slow'],
    )
    assert.deepEqual(said, ['another process migrates the database: waiting for it'])
  },
)

test(
  'a standby that takes no writes is told as such, also by health, and a failover heals by itself',
  needsPostgres,
  async t => {
    const { ctx, call } = await setup(t)
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(ctx.db)
    const readOnly = async (on: boolean) => {
      await ctx.engine.session(async session => {
        await session.query('set default_transaction_read_only = off')
        const value = on ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'
        await session.query(`alter database "${rows[0]!.name}" ${value}`)
        // As if the old server had gone with its connections; the next ones find the standby.
        if (on)
          await session.query(
            'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
          )
      })
    }
    const pause = () => call('POST', '/api/v1/admin/scheduled_tasks/housekeeping/pause')
    await readOnly(true)
    const refused = await eventually('it meets the standby', async () => {
      const given = await pause()
      return given.body.code === 'database_cannot_write' && given
    })
    assert.equal(refused.status, 503)
    assert.match(refused.body.detail, /cannot write: it is a read-only standby/)
    const read = await call('GET', '/api/v1/admin/scheduled_tasks')
    assert.equal(read.status, 200, read.text)
    const health = await call('GET', '/api/health', { token: null })
    assert.deepEqual([health.status, health.body.code], [503, 'database_cannot_write'])
    await readOnly(false)
    await eventually('it writes again', async () => (await pause()).status === 200)
    await eventually(
      'health is well',
      async () => (await call('GET', '/api/health', { token: null })).status === 200,
    )
  },
)

test(
  'a worker knows which queue it no longer reaches, and that it reaches it again',
  needsPostgres,
  async t => {
    const { ctx } = await setup(t, { worker: true })
    const { jobs, db } = ctx
    await eventually('all are reached', async () => jobs.unreached(5) === undefined)
    await sql`alter schema pgboss rename to lost`.execute(db)
    await eventually('one is missed', async () => jobs.unreached(5))
    await sql`alter schema lost rename to pgboss`.execute(db)
    await eventually('all are reached again', async () => jobs.unreached(5) === undefined)
  },
)
