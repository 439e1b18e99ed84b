import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate, readMigrations } from '../../src/kernel/db/migrations.ts'
import { openPglite } from '../../src/kernel/db/pglite.ts'
import { databaseFingerprint, preparedDatabase } from '../../src/kernel/db/prepared-database.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { onEmbeddedAlone } from '../support/engine.ts'
import { temporaryFolder } from '../support/process.ts'

test(
  'a new data folder begins as the prepared database, and what is written there stays there',
  onEmbeddedAlone,
  async t => {
    const [one, other] = [temporaryFolder(t), temporaryFolder(t)]
    const engine = await openPglite({ dataDir: one, prepared: true })
    assert.deepEqual(await migrate(engine, systemClock), [])
    await engine.session(session => session.query('create table kept (id int)'))
    await engine.close()

    const tables = async (dataDir: string) => {
      const opened = await openPglite({ dataDir, prepared: true })
      const rows = await opened.session(session => session.query("select to_regclass('kept') as name"))
      await opened.close()
      return rows
    }
    assert.deepEqual(await tables(one), [{ name: 'kept' }], 'a database that is there is not replaced')
    assert.deepEqual(await tables(other), [{ name: null }])
  },
)

test('a copy that was cut off is not taken for a database', onEmbeddedAlone, async t => {
  const dataDir = temporaryFolder(t)
  mkdirSync(join(dataDir, 'pglite.part'))
  writeFileSync(join(dataDir, 'pglite.part', 'PG_VERSION'), 'half')
  const engine = await openPglite({ dataDir, prepared: true })
  assert.deepEqual(await migrate(engine, systemClock), [])
  await engine.close()
  assert.ok(!existsSync(join(dataDir, 'pglite.part')))
})

test('one that was made of other migrations is not found', () => {
  const migrations = readMigrations()
  assert.ok(preparedDatabase().endsWith(databaseFingerprint(migrations)))
  const others = [migrations.slice(1), migrations.with(-1, { ...migrations[0]!, checksum: 'edited' })]
  for (const made of others) assert.notEqual(databaseFingerprint(made), databaseFingerprint(migrations))
})
