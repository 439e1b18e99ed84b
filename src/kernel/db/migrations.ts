// Numbered SQL files, applied in order, each in a transaction of its own, under a lock so that nodes starting
// together do not run them twice. A file that has run is never edited: its checksum is kept and compared.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Clock } from '../time.ts'
import type { Engine, Session, SessionTransaction } from './engine.ts'

export interface Migration {
  version: number
  name: string
  sql: string
  checksum: string
}

export interface MigrationStatus {
  version: number
  name: string
  /** `unknown`: in the database, not in this version of the service. */
  state: 'applied' | 'pending' | 'edited' | 'unknown'
  applied_at: string | null
}

const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../migrations')

// Any constant will do, as long as every version of the service takes the same one.
const LOCK_KEY = 4_005_001

const ASK_EVERY_MS = 250
const TELL_EVERY_MS = 5_000

const CREATE_LEDGER = `create table if not exists schema_migrations (
  version int primary key, name text not null, checksum text not null, applied_at timestamptz(3) not null)`

export function readMigrations(folder = MIGRATIONS_FOLDER): Migration[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()
    .map((file, index) => {
      const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file)
      if (!match || Number(match[1]) !== index + 1) {
        throw new Error(
          `migrations/${file}: files are numbered 0001_name.sql, 0002_name.sql, … without a gap`,
        )
      }
      const sql = readFileSync(join(folder, file), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { version: index + 1, name: match[2]!, sql, checksum }
    })
}

export interface MigrateOptions {
  migrations?: Migration[]
  /** Told that another node migrates, now and then. */
  log?: Logger
}

/** Applies what is pending and returns what this process applied. */
export function migrate(
  engine: Engine,
  clock: Clock,
  { migrations = readMigrations(), log }: MigrateOptions = {},
): Promise<Migration[]> {
  return engine.session(async session => {
    const locked = engine.kind === 'postgres' ? lockOf(session, log) : session.transaction
    if (!(await hasLedger(session))) await locked(tx => tx.query(CREATE_LEDGER))
    const status = await compare(session, migrations)
    const edited = status.filter(row => row.state === 'edited')
    if (edited.length > 0) {
      const names = edited.map(row => `${String(row.version).padStart(4, '0')}_${row.name}`).join(', ')
      throw new Error(
        `Migrations that have run were edited since: ${names}. Put them back and add a new one.`,
      )
    }
    const applied: Migration[] = []
    for (const migration of migrations) {
      if (status.some(row => row.version === migration.version && row.state === 'applied')) continue
      if (await locked(tx => applyOnce(tx, migration, clock))) applied.push(migration)
    }
    return applied
  })
}

/** False when another node was first. */
async function applyOnce(tx: SessionTransaction, migration: Migration, clock: Clock): Promise<boolean> {
  const { version, name, sql, checksum } = migration
  const known = await tx.query('select 1 from schema_migrations where version = $1', [version])
  if (known.length > 0) return false
  await tx.script(sql)
  await tx.query(
    'insert into schema_migrations (version, name, checksum, applied_at) values ($1, $2, $3, $4)',
    [version, name, checksum, clock.now().toISOString()],
  )
  return true
}

/**
 * Transactions that only one node has at a time. The lock is the transaction's and not the session's: behind a pooler a
 * session is anybody's. Who has to wait asks again and again, so that no connection is held for as long as a migration
 * may take.
 */
function lockOf(session: Session, log: Logger | undefined): Session['transaction'] {
  return async work => {
    const waitingSince = Date.now()
    let told = waitingSince
    for (;;) {
      const outcome = await session.transaction(async tx => {
        const [row] = await tx.query('select pg_try_advisory_xact_lock($1) as mine', [LOCK_KEY])
        return row?.mine ? { result: await work(tx) } : undefined
      })
      if (outcome) return outcome.result
      if (Date.now() - told >= TELL_EVERY_MS) {
        told = Date.now()
        const waited_s = Math.round((told - waitingSince) / 1000)
        log?.warn({ waited_s }, 'another process migrates the database: waiting for it')
      }
      await new Promise(resolve => setTimeout(resolve, ASK_EVERY_MS))
    }
  }
}

const hasLedger = async (session: Session): Promise<boolean> => {
  const [ledger] = await session.query("select to_regclass('schema_migrations') is not null as exists")
  return ledger?.exists === true
}

export function migrationStatus(engine: Engine, migrations = readMigrations()): Promise<MigrationStatus[]> {
  return engine.session(async session => {
    if (await hasLedger(session)) return compare(session, migrations)
    return migrations.map(({ version, name }) => ({ version, name, state: 'pending', applied_at: null }))
  })
}

async function compare(session: Session, migrations: Migration[]): Promise<MigrationStatus[]> {
  const rows = await session.query('select version, name, checksum, applied_at from schema_migrations')
  const applied = new Map(rows.map(row => [row.version as number, row]))
  const known = migrations.map(({ version, name, checksum }): MigrationStatus => {
    const row = applied.get(version)
    if (!row) return { version, name, state: 'pending', applied_at: null }
    const state = row.checksum === checksum ? 'applied' : 'edited'
    return { version, name, state, applied_at: row.applied_at as string }
  })
  const unknown = rows
    .filter(row => !migrations.some(m => m.version === row.version))
    .map(
      (row): MigrationStatus => ({
        version: row.version as number,
        name: row.name as string,
        state: 'unknown',
        applied_at: row.applied_at as string,
      }),
    )
  return [...known, ...unknown].sort((a, b) => a.version - b.version)
}
