// The short form of `npm run chaos:sagas`, on PostgreSQL alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../support/process.ts'

if (onPostgres) {
  test('workers killed in the middle of provisioning leave every run ended, no step run twice, and no droplet behind', async t => {
    const { createPostgresDatabase } = await import('../support/database.ts')
    const { chaosSagas } = await import('../chaos/sagas.ts')
    const database = await createPostgresDatabase()
    const ends = [database.drop]
    t.after(async () => {
      for (const end of ends.reverse()) await end()
    })
    const report = await chaosSagas(
      { after: end => void ends.push(async () => end()) },
      {
        databaseUrl: database.url,
        runs: 12,
        kills: 3,
        seed: 1 + Math.floor(Math.random() * 1_000_000),
        workers: 2,
        actionDelayMs: 600,
        betweenKillsMs: 1_500,
      },
    )
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.deviations, [])
  })
}
