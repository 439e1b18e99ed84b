// Races of drift on PostgreSQL: accepts beside sweeps, syncs and each other. Nothing is lost, nobody waits in a circle.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { acceptDrift } from '../../src/features/drift/actions.ts'
import { detectDrift } from '../../src/features/drift/detect-drift.ts'
import { dropDesiredState, writeDesiredState } from '../../src/features/drift/index.ts'
import { seenResource } from '../../src/features/inventory/seen-resource.ts'
import { writeAllSeen, writeSeen } from '../../src/features/inventory/write-seen.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { newId } from '../../src/kernel/ids.ts'
import { accept, desire, drifts, droplet } from '../support/drift.ts'
import { needsPostgres } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { rowOf, see, shown, sightingOf } from '../support/sweep.ts'

const ROUNDS = 200

const sweep = ({ ctx }: Bundle) => detectDrift(ctx, { id: newId(), signal: new AbortController().signal })

/** Deadlocks that the database had to break; transaction() would hide them by trying again. */
async function deadlocks({ ctx }: Bundle): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(ctx.db)
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(ctx.db)
  return rows[0]!.deadlocks
}

test(
  'of two accepts beside a sweep one wins, the other is told, and the version goes up once',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const id = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { n: -1 } })
    await desire(bundle, id, { name: 'web', n: -1 })
    for (let round = 0; round < ROUNDS; round++) {
      await droplet(bundle, { provider_id: '1', name: 'web', attrs: { n: round } })
      await sweep(bundle)
      const [open] = await drifts(bundle)
      const tasks = [() => accept(bundle, open.id), () => sweep(bundle), () => accept(bundle, open.id)]
      if (round % 2) tasks.reverse()
      const answers = await Promise.all(tasks.map(task => task()))
      const statuses = answers.flatMap(answer => ('status' in answer ? [answer.status] : []))
      assert.deepEqual(statuses.sort(), [200, 409], `round ${round}`)
      const { body } = await bundle.call('GET', `/api/v1/inventory/${id}`)
      assert.deepEqual(body.data.desired_state.spec, { name: 'web', n: round })
      assert.equal(body.data.desired_state.spec_version, round + 2)
      assert.deepEqual(body.data.drift, [], `round ${round}: what was accepted is not open again`)
    }
    assert.equal((await drifts(bundle, '?status=accepted&limit=500')).length, ROUNDS)
    assert.equal((await drifts(bundle, '?status=stale')).length, 0)
    const { body } = await bundle.call('GET', `/api/v1/inventory/${id}/events?limit=500`)
    const told = body.data.filter(({ kind }: { kind: string }) => kind === 'drift_detected')
    assert.equal(told.length, ROUNDS)
    assert.equal(await deadlocks(bundle), 0)
  },
)

test(
  'sweeps, syncs, accepts, operators and sagas over the same resources never deadlock or lose a bump',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    const { ctx, clock } = bundle
    const count = 30
    const look = (n: number) =>
      Array.from({ length: count }, (_, i) => ({ provider_id: `${i}`, name: 'web', attrs: { n, i } }))
    await see(bundle, 'droplet', look(0))
    const ids = new Map<string, string>()
    for (let i = 0; i < count; i++) ids.set(`${i}`, (await rowOf(bundle, 'droplet', `${i}`)).id)
    const at = () => clock.now().toISOString()
    for (const resourceId of ids.values())
      await transaction(ctx.db, tx =>
        writeDesiredState(tx, at(), { resourceId, spec: { n: -1, i: -1 }, sagaId: null }),
      )
    await sweep(bundle)

    let bumps = 0
    const acceptAll = async () => {
      const rows = await ctx.db.selectFrom('cloud_drift').select('id').where('status', '=', 'open').execute()
      for (const { id } of rows.slice(0, 10)) {
        try {
          await acceptDrift(ctx, id, 'ada')
          bumps++
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'drift_not_open', String(error))
        }
      }
    }
    const sighting = () => sightingOf(bundle, 'droplet')
    /** As a saga does it: the resource and what is desired of it, in one transaction. */
    const saga = (n: number) =>
      transaction(ctx.db, async tx => {
        await writeSeen(tx, await sighting(), seenResource(shown('droplet', look(n)[n % count]!)))
        const resourceId = ids.get(`${n % count}`)!
        await writeDesiredState(tx, at(), { resourceId, spec: { n: -n - 1, i: -n - 1 }, sagaId: null })
      }).then(() => {
        bumps++
      })
    for (let round = 1; round <= 40; round++) {
      clock.advance(1_000)
      const seen = look(round).map(item => seenResource(shown('droplet', item)))
      await Promise.all([
        sweep(bundle),
        sighting().then(look => writeAllSeen(ctx.db, look, round % 2 ? seen : seen.toReversed())),
        acceptAll(),
        saga(round),
        sweep(bundle),
        acceptAll(),
      ])
    }
    const { rows } = await sql<{ versions: number; open_twice: number }>`
    select (select sum(spec_version - 1) from cloud_provisioned)::int as versions,
      (select count(*) from (select 1 from cloud_drift where status = 'open' group by resource_id, field having count(*) > 1) t)::int as open_twice`.execute(
      ctx.db,
    )
    assert.deepEqual(rows[0], { versions: bumps, open_twice: 0 })
    for (const resourceId of ids.values())
      await transaction(ctx.db, tx => dropDesiredState(tx, at(), resourceId))
    assert.deepEqual(await drifts(bundle), [])
    assert.equal(await deadlocks(bundle), 0)
  },
)
