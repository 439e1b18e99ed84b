import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { FinanceError } from '../../src/integrations/finance/index.ts'
import { parseTimestamp } from '../../src/kernel/db/engine.ts'
import { LostConnection, problemOfDatabaseError } from '../../src/kernel/db/errors.ts'
import { listPage } from '../../src/kernel/db/list.ts'
import { migrate, migrationStatus, readMigrations } from '../../src/kernel/db/migrations.ts'
import { runStatement } from '../../src/kernel/db/statement.ts'
import type { Executor } from '../../src/kernel/db/tables.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openTestEngine } from '../support/database.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { lasting } from '../support/lasting.ts'
import { setup } from '../support/setup.ts'

test('dates are text as stored, times are UTC with Z, bigints are exact or refused, numerics are text', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<Record<string, unknown>>`
    select '2026-02-28'::date as date, '2026-11-15 01:02:03.4567+02'::timestamptz(3) as time, 9007199254740991::bigint as large,
           0.1::numeric + 0.2::numeric as amount, '{"a":[1]}'::jsonb as json, array['x'] as list, null::timestamptz as nothing`.execute(
    ctx.db,
  )
  assert.deepEqual(rows[0], {
    date: '2026-02-28',
    time: '2026-11-14T23:02:03.457Z',
    large: 9007199254740991,
    amount: '0.3',
    json: { a: [1] },
    list: ['x'],
    nothing: null,
  })
  await assert.rejects(sql`select 9007199254740992::bigint`.execute(ctx.db), /does not fit/)
})

test('values of every kind are written alike on both engines', async t => {
  const { ctx } = await setup(t)
  const { rows } = await sql<Record<string, unknown>>`
    select ${'a"b\\c'}::text as text, ${12.5}::numeric as number, ${true}::boolean as truth, ${null}::text as nothing,
      ${new Date('2026-11-15T01:02:03.456Z')}::timestamptz as time, ${Buffer.from([0, 255])}::bytea = '\\x00ff'::bytea as bytes,
      ${['x', 'y,"z', null]}::text[] as list, ${[1, 2]}::int[] as numbers, ${{ a: [1, 'b'] }}::jsonb as json,
      ${'00000000-0000-0000-0000-000000000001'}::uuid as id, ${'2026-02-28'}::date as date`.execute(ctx.db)
  assert.deepEqual(rows[0], {
    text: 'a"b\\c',
    number: '12.5',
    truth: true,
    nothing: null,
    time: '2026-11-15T01:02:03.456Z',
    bytes: true,
    list: ['x', 'y,"z', null],
    numbers: [1, 2],
    json: { a: [1, 'b'] },
    id: '00000000-0000-0000-0000-000000000001',
    date: '2026-02-28',
  })
})

test('a prepared statement that failed at first is good the next time, in a transaction and after one', async t => {
  const { ctx } = await setup(t)
  const tenth = (executor: Executor, divisor: number) =>
    runStatement<{ part: number }>(executor, { name: 'a_tenth', text: 'select 10 / $1::int as part' }, [
      divisor,
    ])
  await assert.rejects(tenth(ctx.db, 0), /division by zero/)
  assert.deepEqual(await tenth(ctx.db, 5), [{ part: 2 }])
  await assert.rejects(
    transaction(ctx.db, async tx => {
      assert.deepEqual(await tenth(tx, 2), [{ part: 5 }])
      await tenth(tx, 0)
    }),
    /division by zero/,
  )
  assert.deepEqual(await tenth(ctx.db, 1), [{ part: 10 }])
})

test('times of every form PostgreSQL writes are read', () => {
  assert.equal(parseTimestamp('2026-11-15 01:02:03+00'), '2026-11-15T01:02:03.000Z')
  assert.equal(parseTimestamp('2026-11-15 01:02:03.1+00'), '2026-11-15T01:02:03.100Z')
  assert.equal(parseTimestamp('2026-11-15 01:02:03.123456+00'), '2026-11-15T01:02:03.123Z')
  assert.equal(parseTimestamp('2026-11-15 01:02:03+02'), '2026-11-14T23:02:03.000Z')
})

test('a service that does not answer is never taken for the database, whatever its error says', () => {
  const kindOf = (error: Error) => problemOfDatabaseError(error)?.kind
  const reset = (error: Error) => Object.assign(error, { code: 'ECONNRESET' })
  for (const error of [reset(new Error('read ECONNRESET')), new LostConnection('no answer')])
    assert.equal(kindOf(error), 'unavailable', error.message)
  for (const message of ['did not answer', 'connection terminated', 'timeout expired'])
    assert.equal(kindOf(reset(new FinanceError(message, 'unavailable'))), undefined, message)
})

test('a transaction is kept whole or not at all', async t => {
  const { ctx } = await setup(t)
  const pause = (by: string) => sql`update scheduled_tasks set paused_by = ${by}`
  await assert.rejects(
    transaction(ctx.db, async tx => {
      await pause('half').execute(tx)
      throw new Error('stop')
    }),
  )
  const { rows } = await sql<{ paused_by: string | null }>`select paused_by from scheduled_tasks`.execute(
    ctx.db,
  )
  assert.equal(rows[0]?.paused_by, null)
})

test('a transaction that met a serialization failure is tried again', async t => {
  const { ctx } = await setup(t)
  let attempts = 0
  await transaction(ctx.db, async () => {
    attempts++
    if (attempts < 3) throw Object.assign(new Error('could not serialize access'), { code: '40001' })
  })
  assert.equal(attempts, 3)
})

test(
  'a request is answered while statements of the embedded engine follow one another',
  onEmbeddedAlone,
  async t => {
    const { ctx, call } = await setup(t)
    const statement = () => sql`select count(*) from generate_series(1, 50000)`.execute(ctx.db)
    const statements = Promise.all(Array.from({ length: 30 }, statement)).then(() => 'the statements')
    const answer = call('GET', '/api/v1/inventory', { token: null }).then(({ status }) => status)
    assert.equal(await Promise.race([statements, answer]), 401)
    await statements
  },
)

test('migrations are applied once, in order, and their status is told', async t => {
  const { after: undo } = lasting(t)
  const { engine, close } = await openTestEngine()
  undo(close)
  assert.deepEqual(await migrate(engine, systemClock), [])
  const next = readMigrations().length + 1
  const more = [
    ...readMigrations(),
    {
      version: next,
      name: 'first',
      sql: 'create table extra (id int primary key); insert into extra values (1);',
      checksum: 'a',
    },
    { version: next + 1, name: 'second', sql: 'insert into extra values (2)', checksum: 'b' },
  ]
  undo(() => engine.session(session => session.query('drop table if exists extra')))
  undo(() =>
    engine.session(session => session.query('delete from schema_migrations where version >= $1', [next])),
  )
  assert.deepEqual(
    (await migrationStatus(engine, more)).slice(-2).map(row => row.state),
    ['pending', 'pending'],
  )
  assert.deepEqual(
    (await migrate(engine, systemClock, { migrations: more })).map(m => m.name),
    ['first', 'second'],
  )
  assert.deepEqual(await migrate(engine, systemClock, { migrations: more }), [])
  assert.equal((await migrationStatus(engine)).at(-1)?.state, 'unknown')

  const edited = more.map(m => (m.name === 'second' ? { ...m, checksum: 'c' } : m))
  await assert.rejects(migrate(engine, systemClock, { migrations: edited }), /were edited since: \d+_second/)
})

test('a migration that fails leaves nothing of itself behind', async t => {
  const { after: undo } = lasting(t)
  const { engine, close } = await openTestEngine()
  undo(close)
  const version = readMigrations().length + 1
  const broken = [
    ...readMigrations(),
    { version, name: 'broken', sql: 'create table half (id int); select no_such_thing;', checksum: 'x' },
  ]
  await assert.rejects(migrate(engine, systemClock, { migrations: broken }))
  const rows = await engine.session(session => session.query("select to_regclass('half') as found"))
  assert.equal(rows[0]?.found, null)
  assert.equal((await migrationStatus(engine, broken)).at(-1)?.state, 'pending')
})

test('migration files must be numbered without a gap', t => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, '0001_one.sql'), '')
  writeFileSync(join(folder, '0003_three.sql'), '')
  assert.throws(() => readMigrations(folder), /0003_three\.sql.*without a gap/)
})

test('a list goes on after the last row of its page, up or down, with the filters that are asked for', async t => {
  const { ctx } = await setup(t)
  const select =
    'select a, b, c from (values (1, 1, 10), (1, 2, 20), (2, 1, 10), (2, 2, 10), (3, 1, 20)) as rows (a, b, c)'
  const walk = async (descending: boolean, filters: Record<string, readonly [string, unknown]>) => {
    const seen: string[] = []
    for (let after: number[] | null = null; ; ) {
      const page: { a: number; b: number }[] = await listPage(ctx.db, {
        name: `a_test_${descending}`,
        select,
        filters,
        orderBy: ['a', 'b'],
        descending,
        after,
        limit: 2,
      })
      seen.push(...page.map(({ a, b }) => `${a}${b}`))
      if (page.length < 2) return seen
      after = [page[1]!.a, page[1]!.b]
    }
  }
  assert.deepEqual(await walk(false, {}), ['11', '12', '21', '22', '31'])
  assert.deepEqual(await walk(true, {}), ['31', '22', '21', '12', '11'])
  assert.deepEqual(await walk(true, { c: ['c = ?', 10], unasked: ['b = ?', undefined] }), ['22', '21', '11'])
  assert.deepEqual(await walk(false, { c: ['c = ?', 10], b: ['b = ?', 1] }), ['11', '21'])
  assert.deepEqual(await walk(false, { from: ['a >= ?', 2], none: ['c = ?', null] }), ['21', '22', '31'])
})
