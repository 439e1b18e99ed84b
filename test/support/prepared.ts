// Where the prepared embedded database is kept between runs: a dump to load, and the folder it was made from to copy.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMigrations } from '../../src/kernel/db/migrations.ts'

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
