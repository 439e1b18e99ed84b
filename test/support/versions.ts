// The history of resources in tests.
import { readMigrations } from '../../src/kernel/db/migrations.ts'
import type { Bundle } from './setup.ts'

/** Makes the versions anew from resources and events, as the upgrade does for a database of the release before. */
export async function versionsFromEvents({ ctx }: Bundle): Promise<void> {
  const { sql: migration } = readMigrations().find(({ name }) => name === 'resource_versions')!
  await ctx.engine.session(session =>
    session.transaction(tx => tx.script(`drop table resource_versions; ${migration}`)),
  )
}
