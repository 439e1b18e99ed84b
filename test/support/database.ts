// A fresh, migrated database for each test, cheaply: PGlite from a dump, PostgreSQL from a template database. Which of
// the two is decided by TEST_DATABASE_URL (`npm run test:pg` sets it).
import { randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { after } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import type { Engine, Session } from '../../src/kernel/db/engine.ts'
import { openPglite } from '../../src/kernel/db/pglite.ts'
import { openPostgres } from '../../src/kernel/db/postgres.ts'
import { onPostgres, testDatabaseUrl } from './engine.ts'
import { databaseUrl, dumpFile, NO_SCHEDULE, templateName } from './prepare-databases.ts'

const silent = pino({ level: 'silent' })

/** A PostgreSQL database of a test's own, and its end. Nothing in it is due by the wall clock, unless that is asked for. */
export async function createPostgresDatabase({
  migrated = true,
  scheduled = false,
} = {}): Promise<{ url: string; drop(): Promise<void> }> {
  if (!testDatabaseUrl) throw new Error('TEST_DATABASE_URL is not set')
  const name = `test_${randomBytes(8).toString('hex')}`
  const url = databaseUrl(testDatabaseUrl, name)
  const run = async (sql: string, where = testDatabaseUrl) => {
    const admin = new pg.Client({ connectionString: where })
    await admin.connect()
    await admin.query(sql).finally(() => admin.end())
  }
  await run(
    migrated
      ? `create database ${name} template ${templateName()} strategy file_copy`
      : `create database ${name}`,
  )
  if (migrated && !scheduled) await run(NO_SCHEDULE, url)
  return { url, drop: () => run(`drop database if exists ${name} with (force)`) }
}

/**
 * A migrated, empty engine for one test. On PostgreSQL it is a database of its own; on PGlite, where opening one takes
 * most of a second, the tests of a file take turns with one engine that is emptied in between.
 */
export async function openTestEngine(
  /** The address to open in the place of PostgreSQL's own: that of a proxy before it. */
  through: (url: string) => Promise<string> = async url => url,
): Promise<{ engine: Engine; close(): Promise<void> }> {
  if (!onPostgres) return { engine: await emptiedPglite(), close: async () => {} }
  // Whoever sets up a service inside the test starts no schedule.
  const { url, drop } = await createPostgresDatabase({ scheduled: true })
  const engine = openPostgres({ url: await through(url), poolSize: 8, log: silent })
  return {
    engine,
    close: async () => {
      await engine.close()
      await drop()
    },
  }
}

let shared: Promise<Engine> | undefined

// At the end of the file; a PGlite left open would keep its process alive.
after(async () => (await shared)?.close())

async function emptiedPglite(): Promise<Engine> {
  if (!shared) {
    shared = openAsBlob(dumpFile()).then(dump => openPglite({ dump }))
    return { ...(await shared) }
  }
  const engine = await shared
  await engine.session(async session => {
    deletions ??= await deletionsOf(session)
    await session.transaction(tx => tx.script(deletions!))
  })
  // A test may have replaced a member to simulate a fault; the next one gets them as they were.
  return { ...engine }
}

let deletions: string | undefined

/**
 * Deleting a few rows is far quicker than truncating thirty tables. A replica's session fires neither the triggers of
 * append-only tables nor those of foreign keys.
 */
async function deletionsOf(session: Session): Promise<string> {
  const rows = await session.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where (schemaname = 'public' and tablename <> 'schema_migrations')
        or (schemaname = 'pgboss' and tablename in ('job', 'schedule', 'warning'))`,
  )
  const empty = rows.map(row => `delete from ${row.name};`).join(' ')
  return `set local session_replication_role = replica; ${empty}`
}
