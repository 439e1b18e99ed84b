// The short form of `npm run chaos:sagas`, on PostgreSQL alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chaosSagas } from '../chaos/sagas.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { lasting } from '../support/lasting.ts'

test(
  'workers killed in the middle of provisioning leave every run ended, no step run twice, and no droplet behind',
  onPostgresAlone,
  async t => {
    // What is left at the provider is taken down on schedule.
    const database = await createPostgresDatabase({ scheduled: true })
    const owner = lasting(t)
    owner.after(database.drop)
    const report = await chaosSagas(owner, {
      databaseUrl: database.url,
      runs: 12,
      kills: 3,
      seed: 1 + Math.floor(Math.random() * 1_000_000),
      workers: 2,
      actionDelayMs: 600,
      betweenKillsMs: 1_500,
    })
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.deviations, [])
  },
)
