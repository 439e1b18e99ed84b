// The short form of `npm run chaos:tenancy`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareHistories } from '../chaos/tenancy/run.ts'
import { openTestEngine } from '../support/database.ts'
import { onPostgresAlone } from '../support/engine.ts'

test(
  'every caller is shown what the model of tenants and operators says, after every step of random histories',
  onPostgresAlone,
  async t => {
    const { engine, close } = await openTestEngine()
    t.after(close)
    const histories = 20
    const figures = await compareHistories({ engine, histories, seed: 13 })
    assert.equal(figures.histories, histories)
    assert.ok(figures.requests > histories * 100, JSON.stringify(figures))
  },
)
