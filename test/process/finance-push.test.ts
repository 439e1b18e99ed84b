// Workers that are killed while they push.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chaosFinance } from '../chaos/finance.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { lasting } from '../support/lasting.ts'

test(
  'with answers lost and workers killed in between, finance has every invoice once and its id is recorded here',
  onPostgresAlone,
  async t => {
    const database = await createPostgresDatabase()
    const owner = lasting(t)
    owner.after(database.drop)
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
  },
)
