// Where the prepared embedded database is kept between runs: a dump to load, and the folder it was made from to copy.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrations } from '../../src/kernel/db/migrations.ts'

const root = join(import.meta.dirname, '../..')
export const cache = join(root, 'node_modules/.cache/cloudops')

/** Changes whenever what a migrated database looks like may have changed. */
export function fingerprint(): string {
  const hash = createHash('sha256')
  for (const { checksum } of readMigrations()) hash.update(checksum)
  const queue = join(root, 'src/kernel/queue')
  for (const file of readdirSync(queue)) hash.update(readFileSync(join(queue, file)))
  for (const name of ['pg-boss', '@electric-sql/pglite']) {
    hash.update(readFileSync(join(root, 'node_modules', name, 'package.json')))
  }
  return hash.digest('hex').slice(0, 16)
}

export const dumpFile = () => join(cache, `pglite-${fingerprint()}.tar`)
export const dataFolder = () => join(cache, `data-${fingerprint()}`)
