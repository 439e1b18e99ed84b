// The short form of `npm run chaos:database`, on clusters of its own.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgresAlone } from '../support/engine.ts'
import { lasting } from '../support/lasting.ts'

test(
  'commits without an answer, frozen connections, a crash and a failover lose no write and double none',
  onPostgresAlone,
  async t => {
    const { chaosDatabase } = await import('../chaos/database/campaign.ts')
    const { report } = await chaosDatabase(lasting(t), {
      seed: 1 + Math.floor(Math.random() * 1_000_000),
      api: 2,
      workers: 2,
      clients: 12,
      paceMs: 0,
      faults: {
        seconds: 25,
        lost: 0.3,
        extraSeconds: 60,
        longestFreezeMs: 2_000,
        counts: {
          ...{ freezes: 2, restarts: 1, failovers: 1, api_kills: 1, worker_kills: 0 },
          ...{ cuts: 4, delays: 1 },
        },
      },
      required: { writes: 200, lost_commits: 20, freezes: 2, restarts: 1, failovers: 1 },
      settleMs: 120_000,
    })
    const { findings, ...figures } = report
    t.diagnostic(JSON.stringify(figures))
    assert.deepEqual(findings, [])
  },
)
