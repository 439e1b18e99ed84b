// A migrated, empty database that `npm ci` leaves beside the packages (scripts/prepare.js): the first start of the embedded
// engine copies it, which takes a fraction of a second, where making one takes several. Its name is a hash of all that it is
// made of, so that one of another version is never found; where there is none, a start makes its own.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyFolder } from './copy-folder.ts'
import { readMigrations } from './migrations.ts'

const root = join(import.meta.dirname, '../../..')
const queue = join(root, 'src/kernel/queue')

/** Where what can be made again is kept. */
export const CACHE = join(root, 'node_modules/.cache/cloudops')

/** Changes whenever what a migrated database looks like may have changed. */
export function databaseFingerprint(migrations = readMigrations()): string {
  const hash = createHash('sha256')
  for (const { checksum } of migrations) hash.update(checksum)
  for (const file of readdirSync(queue)) hash.update(readFileSync(join(queue, file)))
  for (const name of ['pg-boss', '@electric-sql/pglite'])
    hash.update(readFileSync(join(root, 'node_modules', name, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

/** The data folder that holds it, or would. */
export const preparedDatabase = (): string => join(CACHE, `database-${databaseFingerprint()}`)

/** Gives a data folder that has no database yet a copy of the prepared one. The folder's lock must be held. */
export async function copyPrepared(dataDir: string): Promise<void> {
  const [database, draft] = [join(dataDir, 'pglite'), join(dataDir, 'pglite.part')]
  if (existsSync(database)) return
  try {
    const prepared = join(preparedDatabase(), 'pglite')
    if (!existsSync(prepared)) return
    // Renamed when it is whole: a start that is killed meanwhile leaves nothing that looks like a database.
    rmSync(draft, { recursive: true, force: true })
    await copyFolder(prepared, draft)
    chmodSync(draft, 0o700)
    renameSync(draft, database)
  } catch {
    // Packages that are elsewhere, a disk that is full: making one works, or says what is wrong.
    rmSync(draft, { recursive: true, force: true })
  }
}
