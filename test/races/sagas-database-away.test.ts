// Runs whose database goes away in the middle of a step: nothing is undone that was done, and nothing done twice.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { Engine } from '../../src/kernel/db/engine.ts'
import { openPostgres } from '../../src/kernel/db/postgres.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { needsPostgres, testDatabaseUrl } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { deployment } from '../support/factories.ts'
import { databaseUrl } from '../support/prepare-databases.ts'
import { deprovision, dropletsOf, ordersOf, provision } from '../support/provisioning.ts'
import { ended, type Gate, gate, type Journal, kindOf, show, start, step } from '../support/sagas.ts'
import { anotherWorker, type Bundle, setup, silentLog } from '../support/setup.ts'

test(
  'provisioning through a database that breaks off in every step’s own transaction completes, each droplet ordered once',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { provider: {}, worker: true })
    const { db } = bundle.ctx
    // The first two writes of each table end their own connection.
    await sql`create function blink() returns trigger language plpgsql as $$
    begin
      if nextval('blinks_' || tg_table_name) <= 2 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return coalesce(new, old);
    end $$`.execute(db)
    for (const table of ['provisioning_reservations', 'cloud_projects', 'cloud_provisioned'])
      await sql
        .raw(
          `create sequence blinks_${table};
         create trigger blink before insert or delete on ${table} for each row execute function blink()`,
        )
        .execute(db)
    const { id } = await deployment(bundle)
    const run = await ended(bundle, await provision(bundle, id))
    assert.deepEqual([run.status, run.error], ['completed', null])
    assert.deepEqual([ordersOf(bundle, run), dropletsOf(bundle, run).length], [1, 1])
    const gone = await ended(bundle, await deprovision(bundle, id))
    assert.deepEqual([gone.status, dropletsOf(bundle, run).length], ['completed', 0])
    assert.equal(bundle.logged().match(/saga step waits for the database/g)?.length, 6)
  },
)

test(
  'of provisionings whose commits lose their answers all complete, with one droplet and one place each',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const runs = []
    for (let i = 0; i < 12; i++) runs.push(await provision(bundle, (await deployment(bundle)).id))
    const { engine, proxy } = await throughProxy(t, bundle)
    proxy.loseCommits(0.3, 'commits and autocommits')
    await anotherWorker(t, bundle, { engine })
    for (const { id } of runs) {
      const run = await ended(bundle, { id })
      assert.deepEqual([run.status, run.error], ['completed', null])
      assert.deepEqual([ordersOf(bundle, run), dropletsOf(bundle, run).length], [1, 1])
    }
    proxy.loseCommits(0)
    t.diagnostic(`${proxy.counters.lostCommits + proxy.counters.lostAutocommits} answers were lost`)
    assert.ok(proxy.counters.lostCommits > 0 && proxy.counters.lostAutocommits > 0)
    const { db } = bundle.ctx
    const { rows } = await sql<{ places: number; kept: number }>`
    select (select count(*)::int from provisioning_reservations) as places,
      (select count(*)::int from cloud_provisioned) as kept`.execute(db)
    assert.deepEqual(rows, [{ places: 0, kept: 12 }])
  },
)

test(
  'a step that waits for the database past its timeout goes on when it is back; one whose run was taken meanwhile does not',
  needsPostgres,
  async t => {
    const journal: Journal = []
    const reached = [gate(), gate()]
    const waiting = (name: string, { pass }: Gate) =>
      step(name, journal, {
        timeoutMs: 400,
        execute: async ({ transaction }) => {
          await pass()
          await transaction(tx => sql`select 1`.execute(tx))
          journal.push(`wrote ${name}`)
          return { ok: true }
        },
      })
    const kinds = [
      kindOf('kept', [waiting('kept', reached[0]!)]),
      kindOf('taken', [waiting('taken', reached[1]!)]),
    ]
    const bundle = await setup(t, { sagaKinds: () => kinds })
    const { engine, proxy } = await throughProxy(t, bundle)
    await anotherWorker(t, bundle, { engine })
    const [kept, taken] = [await start(bundle, 'kept'), await start(bundle, 'taken')]
    for (const { reached: here } of reached) await here
    // There is no server behind the proxy any more.
    proxy.pointTo('postgres://127.0.0.1:1/none')
    proxy.cut()
    for (const { open } of reached) open()
    await eventually(
      'both have waited longer than they may take',
      async () => (bundle.logged().match(/"retry_in_ms":800,"msg":"saga step waits/g) ?? []).length >= 2,
    )
    await sql`update saga_runs set claim = gen_random_uuid() where id = ${taken.id}`.execute(bundle.ctx.db)
    proxy.pointTo(testDatabaseUrl!)
    assert.equal((await ended(bundle, kept.id)).status, 'completed')
    await eventually('the loss is noticed', async () => /saga (lost|left)/.test(bundle.logged()))
    assert.deepEqual(journal.toSorted(), ['execute kept', 'execute taken', 'wrote kept'])
    assert.equal((await show(bundle, taken.id)).status, 'running')
  },
)

/** The bundle's database through a proxy; the queue goes there directly. */
async function throughProxy(
  t: TestContext,
  { ctx }: Bundle,
): Promise<{ engine: Engine; proxy: DatabaseProxy }> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(ctx.db)
  const proxy = await startDatabaseProxy({ upstream: testDatabaseUrl! })
  const url = proxy.url(databaseUrl(testDatabaseUrl!, rows[0]!.name))
  const engine = openPostgres({ url, poolSize: 8, log: silentLog })
  t.after(async () => {
    await engine.close()
    await proxy.close()
  })
  return { engine: { ...engine, queueConnection: ctx.engine.queueConnection }, proxy }
}
