// Two nodes on one database whose machines' clocks differ: what either does is in order for the other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createSandboxProvider, SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { generated } from '../../sandbox/world/generated.ts'
import { removeResource } from '../../sandbox/world/world.ts'
import { readConfig } from '../../src/config.ts'
import { type Context, createContext } from '../../src/context.ts'
import { syncKind } from '../../src/features/inventory/sync-kind.ts'
import { syncProjects } from '../../src/features/inventory/sync-projects.ts'
import { startDatabaseClock } from '../../src/kernel/db/database-clock.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createLog } from '../../src/kernel/log.ts'
import { openTestEngine } from '../support/database.ts'
import { lasting } from '../support/lasting.ts'
import { type Bundle, setup, testEnvironment } from '../support/setup.ts'
import { eventsOf, jobPart, rowOf, runOf, sweepOne } from '../support/sweep.ts'

const AHEAD_MS = 5 * 60_000

/** A node as it runs in production, with the database's time, on a machine whose clock is wrong by so much. */
async function node(engine: Context['engine'], url: string, aheadMs: number) {
  const { config } = readConfig({
    ...testEnvironment,
    DIGITALOCEAN_API_URL: url,
    DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
  })
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  const machine = { wall: () => Date.now() + aheadMs, elapsed: () => performance.now() }
  const ctx = await createContext({ config, worker: false, engine, log, machine })
  return {
    ctx,
    logged: () => lines.join(''),
    async sweep(kind: 'volume') {
      const sweepId = newId()
      await syncKind(ctx, { kind, sweepId }, jobPart())
      return runOf({ ctx } as Bundle, kind, sweepId)
    },
  }
}

test('a rename and strikes are seen at the next sweep, whichever of two nodes five minutes apart made the last', async t => {
  const { after: undo } = lasting(t)
  const seed = generated({ volumes: 3, droplets: 0, projects: 1 })
  const sandbox = createSandboxProvider({ rateLimits: false, actionDelayMs: 0, seed })
  const { url } = await sandbox.listen()
  undo(() => sandbox.close())
  const { engine, close } = await openTestEngine()
  undo(close)
  const ahead = await node(engine, url, AHEAD_MS)
  const inTime = await node(engine, url, 0)
  for (const { ctx } of [ahead, inTime]) {
    undo(() => ctx.providers.close())
    undo(() => ctx.jobs.stop(1_000))
  }
  assert.match(ahead.logged(), /"ahead_ms":(299|300|301)\d{3}.*differs from the database/)
  assert.doesNotMatch(inTime.logged(), /differs/)
  assert.ok(Math.abs(ahead.ctx.clock.now().getTime() - inTime.ctx.clock.now().getTime()) < 1_000)

  assert.equal((await ahead.sweep('volume')).inserted, 3)
  const [renamed, gone] = [...seed.shelves.volume]
  seed.shelves.volume.replace({ ...renamed!, name: 'renamed' })
  removeResource(seed, 'volume', gone!.id)
  const first = await inTime.sweep('volume')
  assert.deepEqual([first.updated, first.struck], [1, 1])
  assert.equal((await rowOf(inTime as unknown as Bundle, 'volume', renamed!.id)).name, 'renamed')
  assert.equal((await ahead.sweep('volume')).struck, 1)
  assert.deepEqual([(await inTime.sweep('volume')).deleted], [1])
})

test('rows that were dated ahead by a wrong clock are updated, struck and deleted like any other', async t => {
  const seed = generated({ volumes: 3, droplets: 0, projects: 2 })
  const bundle = await setup(t, { provider: { seed } })
  await sweepOne(bundle, 'volume')
  await syncProjects(bundle.ctx, newId(), jobPart())
  for (const table of ['cloud_resources', 'cloud_projects'])
    await sql`update ${sql.table(table)} set last_seen_at = last_seen_at + interval '1 day'`.execute(
      bundle.ctx.db,
    )
  const [renamed, gone] = [...seed.shelves.volume]
  seed.shelves.volume.replace({ ...renamed!, name: 'renamed' })
  removeResource(seed, 'volume', gone!.id)
  const runs = [
    await sweepOne(bundle, 'volume'),
    await sweepOne(bundle, 'volume'),
    await sweepOne(bundle, 'volume'),
  ]
  assert.deepEqual(
    runs.map(run => [run.updated, run.struck, run.deleted]),
    [
      [1, 1, 0],
      [0, 1, 0],
      [0, 1, 1],
    ],
  )
  const row = await rowOf(bundle, 'volume', renamed!.id)
  assert.ok(row.last_seen_at <= bundle.clock.now().toISOString(), 'it is dated anew')
  assert.equal((await eventsOf(bundle, 'volume', gone!.id)).at(-1)?.kind, 'deleted')

  const [project] = [...seed.projects].filter(({ is_default }) => !is_default)
  seed.projects.remove(project!.id)
  const sweepId = newId()
  await syncProjects(bundle.ctx, sweepId, jobPart())
  assert.equal((await runOf(bundle, 'project', sweepId)).struck, 1)
})

test('the database’s time goes on by what has passed, however long nobody asks for it', async t => {
  const { engine, close } = await openTestEngine()
  t.after(close)
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  let elapsed = 1_000
  const clock = await startDatabaseClock(engine.db, log, { wall: () => Date.now(), elapsed: () => elapsed })
  t.after(() => clock.close())
  const first = clock.now().getTime()
  assert.ok(Math.abs(first - Date.now()) < 5_000)
  elapsed += 86_400_000
  assert.equal(clock.now().getTime(), first + 86_400_000, 'only what has passed counts')
})
