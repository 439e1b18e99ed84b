// The proxy that campaigns and tests put between the service and PostgreSQL does what it says it does.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../scripts/throwaway-postgres.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { needsPostgres, onPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'

/** With or without something unread, the end of a connection looks different. */
const GONE = /terminated|ECONNRESET/

describe('the proxy before PostgreSQL', () => {
  let postgres: ThrowawayPostgres
  let proxy: DatabaseProxy
  let direct: pg.Client

  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const through = () => connect(proxy.url(postgres.url))
  const written = async () => Number((await direct.query('select count(*) from written')).rows[0].count)

  before(async () => {
    if (!onPostgres) return
    postgres = await startPostgres()
    proxy = await startDatabaseProxy({ upstream: postgres.url })
    direct = await connect(postgres.url)
    await direct.query('create table written (id int)')
  })
  after(async () => {
    await direct?.end()
    await proxy?.close()
    await postgres?.remove()
  })

  test(
    'a lost commit is in the database, and its client only sees the connection go',
    needsPostgres,
    async () => {
      const earlier = { ...proxy.counters, rows: await written() }
      proxy.loseCommits(1)
      const client = await through()
      await client.query('begin')
      assert.equal((await client.query('insert into written values ($1) returning id', [1])).rowCount, 1)
      await assert.rejects(client.query('commit'), GONE)
      const other = await through()
      // Rolled back, read, or a statement by itself: these are not what was asked to be lost.
      await other.query('begin; insert into written values (2); rollback')
      await other.query('begin; select 1; commit')
      await other.query('insert into written values ($1)', [3])
      await assert.rejects(other.query('begin; insert into written values (4); commit'), GONE)
      proxy.loseCommits(0)
      assert.equal((await written()) - earlier.rows, 3)
      assert.equal(proxy.counters.lostCommits - earlier.lostCommits, 2)
      assert.equal(proxy.counters.lostAutocommits, 0)
    },
  )

  test(
    'a writing statement without a transaction loses its answer when that is wished, a reading one never',
    needsPostgres,
    async () => {
      const earlier = { ...proxy.counters, rows: await written() }
      proxy.loseCommits(1, 'commits and autocommits')
      const statements = [
        'insert into written values ($1)',
        'with made as (insert into written values ($1) returning id) select * from made',
        'update written set id = $1 where id = $1',
      ]
      for (const statement of statements) {
        const client = await through()
        await client.query('select id from written for update')
        await client.query('update written set id = $1 where id = -1 and id = $1', [0])
        await assert.rejects(client.query({ name: 'prepared', text: statement, values: [5] }), GONE)
      }
      proxy.loseCommits(0)
      assert.equal((await written()) - earlier.rows, 2)
      assert.equal(proxy.counters.lostAutocommits - earlier.lostAutocommits, 3)
    },
  )

  test(
    'answers larger than a packet pass unchanged, with a delay and without one',
    needsPostgres,
    async () => {
      const client = await through()
      const large = 'x'.repeat(3_000_000)
      assert.equal((await client.query('select $1::text as large', [large])).rows[0].large, large)
      proxy.delay(5, 20)
      const { rows } = await client.query('select n from generate_series(1, 20000) n')
      proxy.delay(0)
      assert.equal(rows.length, 20_000)
      assert.ok(
        rows.every((row, place) => row.n === place + 1),
        'in order',
      )
      await client.end()
    },
  )

  test(
    'a frozen connection says nothing until it is thawed, while new ones are served or frozen as wished',
    needsPostgres,
    async () => {
      const client = await through()
      let answered = false
      proxy.freeze('served')
      const asked = client.query('select 1').finally(() => {
        answered = true
      })
      const served = await through()
      await served.query('select 1')
      proxy.freeze('frozen')
      const connecting = through()
      const silent = served.query('select 1')
      assert.equal(answered, false)
      proxy.thaw()
      await Promise.all([asked, silent, connecting])

      proxy.freeze()
      const lost = assert.rejects(client.query('select 1'), GONE)
      proxy.thaw('cut')
      await lost
    },
  )

  test('cut connections end, and new ones go where the proxy points to', needsPostgres, async t => {
    const other = await startPostgres()
    t.after(() => other.remove())
    const client = await through()
    const asked = assert.rejects(client.query('select pg_sleep(60)'), GONE)
    assert.ok(proxy.cut() >= 1)
    await asked
    await eventually('nothing is open', async () => proxy.open() === 0)
    proxy.pointTo(other.url)
    const moved = await through()
    const { rows } = await moved.query(`select to_regclass('written') as there`)
    assert.equal(rows[0].there, null)
    proxy.pointTo(postgres.url)
    await moved.end()
  })
})
