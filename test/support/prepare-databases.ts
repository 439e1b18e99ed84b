// Makes, once before all tests, what each test's database is then copied from: a dump and a folder of the prepared PGlite,
// or a template database on PostgreSQL.
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { pino } from 'pino'
import { fill, prepareDatabase } from '../../scripts/prepare-database.ts'
import { openPostgres } from '../../src/kernel/db/postgres.ts'
import { CACHE, databaseFingerprint, preparedDatabase } from '../../src/kernel/db/prepared-database.ts'
import { testDatabaseUrl } from './engine.ts'

const silent = pino({ level: 'silent' })

export const templateName = () => `cloudops_template_${fingerprint()}`

/** Once before all tests. */
export async function prepareDatabases(): Promise<void> {
  if (testDatabaseUrl) return prepareTemplate(testDatabaseUrl)
  await prepareDatabase()
  const file = dumpFile()
  if (existsSync(file) && existsSync(dataFolder())) return
  const folder = join(CACHE, `build-${randomBytes(4).toString('hex')}`)
  cpSync(preparedDatabase(), folder, { recursive: true })
  const pglite = await PGlite.create(join(folder, 'pglite'))
  const dump = await pglite.dumpDataDir('none')
  await pglite.exec(NO_SCHEDULE)
  await pglite.close()
  writeFileSync(`${file}.part`, Buffer.from(await dump.arrayBuffer()))
  renameSync(`${file}.part`, file)
  if (!existsSync(dataFolder())) renameSync(folder, dataFolder())
}

async function prepareTemplate(url: string): Promise<void> {
  const name = templateName()
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  try {
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount) return
    await admin.query(`create database ${name}_part`)
    const engine = openPostgres({ url: databaseUrl(url, `${name}_part`), poolSize: 2, log: silent })
    await fill(engine)
    await admin.query(`alter database ${name}_part rename to ${name}`)
  } finally {
    await admin.end()
  }
}

export function databaseUrl(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

/**
 * For the databases of processes, which start the schedule as production does: no task is due by the wall clock, but when a
 * test sets its `next_run_at`.
 */
export const NO_SCHEDULE = `
  create function never_due() returns trigger language plpgsql as
    $$ begin new.next_run_at := '2100-01-01T00:00:00Z'; return new; end $$;
  create trigger never_due before insert or update on scheduled_tasks
    for each row when (new.next_run_at is null) execute function never_due();`

/** Changes whenever what a migrated database looks like, or what tests add to it, may have changed. */
export const fingerprint = (): string =>
  createHash('sha256').update(databaseFingerprint()).update(NO_SCHEDULE).digest('hex').slice(0, 16)

export const dumpFile = () => join(CACHE, `pglite-${fingerprint()}.tar`)
export const dataFolder = () => join(CACHE, `data-${fingerprint()}`)
