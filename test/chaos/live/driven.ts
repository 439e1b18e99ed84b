// The same trial with a clock that is moved by hand: the looks are made one by one, so that minutes pass in seconds and a seed
// gives the same trial each time.

import { SANDBOX_TOKEN } from '../../../sandbox/provider/server.ts'
import { runDue } from '../../../sandbox/world/world.ts'
import { FOLLOW_EVERY_MS, followActions } from '../../../src/features/inventory/follow-actions.ts'
import { syncKind } from '../../../src/features/inventory/sync-kind.ts'
import { syncProjects } from '../../../src/features/inventory/sync-projects.ts'
import { kindNames } from '../../../src/integrations/digitalocean/index.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { send } from '../../support/http.ts'
import type { Bundle } from '../../support/setup.ts'
import { jobPart } from '../../support/sweep.ts'
import { randomFrom } from '../random.ts'
import { type Audit, audit } from './audit.ts'
import { makeChange } from './changes.ts'
import { startFaults } from './faults.ts'
import { type Latencies, latencies } from './report.ts'
import { watchWorld } from './truth.ts'
import { type Ask, everything, type Sighting, startWatch } from './watch.ts'

export interface Driven extends Latencies {
  changes: number
  unseen: Sighting[]
  audit: Audit
  faults_met: number
}

const STEP_MS = 3_000
const MOST_STEPS = 200

export async function liveByHand(
  { ctx, clock, call, sandbox }: Bundle,
  providerUrl: string,
  { changes, seed, faults }: { changes: number; seed: number; faults: boolean },
): Promise<Driven> {
  const random = randomFrom(seed)
  const { world } = sandbox
  const now = () => clock.now().getTime()
  const ask: Ask = async path => {
    const { status, body, text } = await call('GET', path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return body
  }
  const sweep = async () => {
    const sweepId = newId()
    for (const kind of kindNames) await syncKind(ctx, { kind, sweepId }, jobPart()).catch(() => {})
    await syncProjects(ctx, sweepId, jobPart()).catch(() => {})
  }
  await sweep()
  await followActions(ctx, jobPart())
  const watch = startWatch(ask, now)
  const truth = watchWorld(world, now, watch.changed)
  watch.begin(await everything(ask), truth)

  let numbers = 0
  const doer = {
    world,
    random,
    number: () => ++numbers,
    isBusy: watch.isBusy,
    send: (method: string, path: string, body?: unknown) =>
      send(method, providerUrl + path, { token: SANDBOX_TOKEN, ...(body === undefined ? {} : { body }) }),
  }
  const failing = startFaults(sandbox, random, 'at once')
  let made = 0
  for (let step = 1; step < MOST_STEPS && (made < changes || watch.pending.size > 0); step++) {
    clock.advance(STEP_MS)
    runDue(world, clock.now())
    if (made < changes && random() < 0.7) {
      await makeChange(doer)
      made += 1
    }
    if (faults && made < changes) failing.goOn()
    if (made === changes) failing.end()
    if (faults && step % 15 === 0) await sweep()
    if ((step * STEP_MS) % FOLLOW_EVERY_MS !== 0) continue
    await followActions(ctx, jobPart())
    await watch.look()
  }
  failing.end()
  return {
    ...latencies(watch.seen),
    changes: made,
    unseen: [...watch.pending.values()],
    audit: await audit(ask, truth, watch.seen),
    faults_met: failing.count().met,
  }
}
