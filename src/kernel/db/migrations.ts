// Numbered SQL files, applied in order, each in a transaction of its own, under a lock so that nodes starting
// together do not run them twice. A file that has run is never edited: its checksum is kept and compared.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Engine, Session } from './engine.ts'

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

/** Applies what is pending and returns it. */
export function migrate(engine: Engine, clock: Clock, migrations = readMigrations()): Promise<Migration[]> {
  return engine.session(async session => {
    const lock = engine.kind === 'postgres'
    if (lock) await session.query('select pg_advisory_lock($1)', [LOCK_KEY])
    try {
      await session.query(CREATE_LEDGER)
      const status = await compare(session, migrations)
      const edited = status.filter(row => row.state === 'edited')
      if (edited.length > 0) {
        const names = edited.map(row => `${String(row.version).padStart(4, '0')}_${row.name}`).join(', ')
        throw new Error(
          `Migrations that have run were edited since: ${names}. Put them back and add a new one.`,
        )
      }
      const pending = migrations.filter(m =>
        status.some(row => row.version === m.version && row.state === 'pending'),
      )
      for (const { version, name, sql, checksum } of pending) {
        await session.script(sql, {
          text: 'insert into schema_migrations (version, name, checksum, applied_at) values ($1, $2, $3, $4)',
          values: [version, name, checksum, clock.now().toISOString()],
        })
      }
      return pending
    } finally {
      if (lock) await session.query('select pg_advisory_unlock($1)', [LOCK_KEY])
    }
  })
}

export function migrationStatus(engine: Engine, migrations = readMigrations()): Promise<MigrationStatus[]> {
  return engine.session(async session => {
    const [ledger] = await session.query("select to_regclass('schema_migrations') is not null as exists")
    if (ledger?.exists) return compare(session, migrations)
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
