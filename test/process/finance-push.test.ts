// Workers that are killed while they push.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../support/process.ts'

if (onPostgres) {
  const { createPostgresDatabase } = await import('../support/database.ts')
  const { chaosFinance } = await import('../chaos/finance.ts')

  test('with answers lost and workers killed in between, finance has every invoice once and its id is recorded here', async t => {
    const database = await createPostgresDatabase()
    const ends: (() => Promise<void> | void)[] = [() => database.drop()]
    t.after(async () => {
      for (const end of ends.reverse()) await end()
    })
    const owner = { after: (end: () => Promise<void> | void) => void ends.push(end) }
    const figures = await chaosFinance(owner, {
      databaseUrl: database.url,
      invoices: 40,
      workers: 1,
      kills: 2,
      lost: 0.3,
      latencyMs: 20,
      hurried: true,
    })
    assert.equal(figures.kills, 2)
    assert.ok(figures.answers_lost > 0)
    assert.ok(figures.recorded_as_updated > 0)
    t.diagnostic(JSON.stringify(figures))
  })
}
