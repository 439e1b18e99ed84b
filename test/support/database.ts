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
 * A migrated, empty engine for one test. Making one takes long on either engine (PGlite most of a second, PostgreSQL a copy of
 * a thousand files), so the tests of a process take turns with one that is emptied in between.
 */
export async function openTestEngine(
  /** The address to open in the place of PostgreSQL's own: that of a proxy before it. */
  through: (url: string) => Promise<string> = async url => url,
): Promise<{ engine: Engine; close(): Promise<void> }> {
  if (!onPostgres) return { engine: await emptiedPglite(), close: async () => {} }
  const database = idle.pop() ?? (await lendableDatabase())
  const engine = openPostgres({
    ...{ url: await through(database.url), poolSize: 8, log: silent },
    // Far more than any takes, for a busy machine eats seconds; a test of the limit opens an engine of its own.
    statementMs: 300_000,
  })
  return {
    engine,
    close: async () => {
      await engine.close()
      if (await emptied(database)) idle.push(database)
      else await database.drop()
    },
  }
}

interface Lendable {
  url: string
  /** Of the schema as it was at first. */
  schema: string
  drop(): Promise<void>
}

const idle: Lendable[] = []
after(async () => {
  for (const { drop } of idle) await drop()
})

async function lendableDatabase(): Promise<Lendable> {
  // Whoever sets up a service inside the test starts no schedule.
  const { url, drop } = await createPostgresDatabase({ scheduled: true })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const schema = await schemaIn(client).finally(() => client.end())
  return { url, drop, schema }
}

/** More than this were left behind, and the database is dropped: its tables would stay as large. */
const MOST_ROWS = 2_000

/** Whether the next test can have it: not when its schema was changed, or when somebody still holds on to its rows. */
async function emptied({ url, schema }: Lendable): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, options: '-c lock_timeout=1000' })
  try {
    await client.connect()
    if ((await schemaIn(client)) !== schema) return false
    deletions ??= await deletionsOf(async text => (await client.query(text)).rows)
    const results = (await client.query(`begin; ${deletions} commit`)) as unknown as pg.QueryResult[]
    return results.reduce((rows, { rowCount }) => rows + (rowCount ?? 0), 0) <= MOST_ROWS
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** Another text once anything was created, altered or dropped. */
async function schemaIn(client: pg.Client): Promise<string> {
  const catalogs = ['class', 'attribute', 'proc', 'trigger', 'constraint', 'namespace', 'db_role_setting']
  const counts = catalogs.map(
    name => `(select concat(count(*), ' ', max(xmin::text::bigint)) from pg_${name})`,
  )
  const { rows } = await client.query(`select concat_ws(', ', ${counts}) as schema`)
  return rows[0].schema
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
    deletions ??= await deletionsOf(session.query)
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
async function deletionsOf(query: Session['query']): Promise<string> {
  const rows = await query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where (schemaname = 'public' and tablename <> 'schema_migrations')
        or (schemaname = 'pgboss' and tablename in ('job', 'schedule', 'warning'))`,
  )
  const empty = rows.map(row => `delete from ${row.name};`).join(' ')
  return `set local session_replication_role = replica; ${empty}`
}
