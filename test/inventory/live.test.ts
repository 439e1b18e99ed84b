// The short form of `npm run chaos:live`, by a clock that is moved by hand, on PostgreSQL alone.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newAccount } from '../chaos/live/account.ts'
import { type Driven, liveByHand } from '../chaos/live/driven.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { type Bundle, setup } from '../support/setup.ts'

async function trial(
  t: TestContext,
  options: { changes: number; seed: number; faults: boolean },
): Promise<Driven> {
  const started = new Date('2026-11-15T12:00:00.000Z')
  const of: { bundle?: Bundle } = {}
  const clock = { now: () => of.bundle?.clock.now() ?? started }
  const seed = newAccount(options.seed, started, 0.1)
  of.bundle = await setup(t, { provider: { seed, clock, actionDelayMs: 2_000 } })
  return liveByHand(of.bundle, of.bundle.ctx.config.DIGITALOCEAN_API_URL, options)
}

const nothingWrong = ({ unseen, audit }: Driven) => {
  const { wrong_strikes, wrongly_missing, wrong_deletions, duplicate_events, unlike_the_provider } = audit
  assert.deepEqual(
    { unseen, wrong_strikes, wrongly_missing, wrong_deletions, duplicate_events, unlike_the_provider },
    {
      unseen: [],
      wrong_strikes: [],
      wrongly_missing: [],
      wrong_deletions: [],
      duplicate_events: [],
      unlike_the_provider: [],
    },
  )
}

test(
  'changes at the provider are in the inventory within 15 seconds where an action tells of them, else within 90, each told once',
  onPostgresAlone,
  async t => {
    const driven = await trial(t, { changes: 20, seed: 7, faults: false })
    t.diagnostic(JSON.stringify(driven))
    nothingWrong(driven)
    assert.ok(driven.with_actions.count > 0 && driven.others.count > 0)
    assert.ok(driven.with_actions.p95_s <= 15, `${driven.with_actions.p95_s} s`)
    assert.ok(driven.others.max_s <= 90, `${driven.others.max_s} s`)
    assert.deepEqual(driven.audit.without_action, {})
  },
)

test(
  'while the provider fails in every way, sweeps and looks strike, delete and tell nothing wrong',
  onPostgresAlone,
  async t => {
    const driven = await trial(t, { changes: 20, seed: 8, faults: true })
    t.diagnostic(JSON.stringify(driven))
    nothingWrong(driven)
    assert.ok(driven.faults_met > 5, `${driven.faults_met} faults were met`)
  },
)
