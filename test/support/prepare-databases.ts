// Makes, once before all tests, what each test's database is then copied from: a dump and a folder of a migrated PGlite, or
// a template database on PostgreSQL.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { pino } from 'pino'
import type { Engine } from '../../src/kernel/db/engine.ts'
import { migrate, readMigrations } from '../../src/kernel/db/migrations.ts'
import { openPglite } from '../../src/kernel/db/pglite.ts'
import { openPostgres } from '../../src/kernel/db/postgres.ts'
import { createMetrics } from '../../src/kernel/metrics.ts'
import { createJobs } from '../../src/kernel/queue/jobs.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { testDatabaseUrl } from './engine.ts'

const silent = pino({ level: 'silent' })

export const templateName = () => `cloudops_template_${fingerprint()}`

/** Once before all tests. */
export async function prepareDatabases(): Promise<void> {
  if (testDatabaseUrl) return prepareTemplate(testDatabaseUrl)
  const file = dumpFile()
  mkdirSync(cache, { recursive: true })
  if (existsSync(file) && existsSync(dataFolder())) return
  const folder = join(cache, `build-${randomBytes(4).toString('hex')}`)
  const engine = await openPglite({ dataDir: folder })
  await fill(engine)
  await engine.close()
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
    await engine.close()
    await admin.query(`alter database ${name}_part rename to ${name}`)
  } finally {
    await admin.end()
  }
}

async function fill(engine: Engine): Promise<void> {
  await migrate(engine, systemClock)
  const jobs = createJobs({ engine, log: silent, metrics: createMetrics(), worker: false })
  await jobs.start()
  await jobs.stop(1_000)
}

export function databaseUrl(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.href
}

const root = join(import.meta.dirname, '../..')
export const cache = join(root, 'node_modules/.cache/cloudops')

/**
 * For the databases of processes, which start the schedule as production does: no task is due by the wall clock, but when a
 * test sets its `next_run_at`.
 */
export const NO_SCHEDULE = `
  create function never_due() returns trigger language plpgsql as
    $$ begin new.next_run_at := '2100-01-01T00:00:00Z'; return new; end $$;
  create trigger never_due before insert or update on scheduled_tasks
    for each row when (new.next_run_at is null) execute function never_due();`

/** Changes whenever what a migrated database looks like may have changed. */
export function fingerprint(): string {
  const hash = createHash('sha256')
  for (const { checksum } of readMigrations()) hash.update(checksum)
  hash.update(NO_SCHEDULE)
  const queue = join(root, 'src/kernel/queue')
  for (const file of readdirSync(queue)) hash.update(readFileSync(join(queue, file)))
  for (const name of ['pg-boss', '@electric-sql/pglite']) {
    hash.update(readFileSync(join(root, 'node_modules', name, 'package.json')))
  }
  return hash.digest('hex').slice(0, 16)
}

export const dumpFile = () => join(cache, `pglite-${fingerprint()}.tar`)
export const dataFolder = () => join(cache, `data-${fingerprint()}`)
