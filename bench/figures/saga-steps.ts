// How many steps a second the saga engine makes durable, beside DBOS Transact.
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { alternate, median } from '../rounds.ts'
import { type Batch, STEPS, type Stepped } from '../saga-batch.ts'
import { serviceEnvironment } from '../service-environment.ts'
import { startWorker } from '../worker-process.ts'

const AT_ONCE = 16
const WARM_UP_RUNS = 1_500
const RUNS = 400
const ROUNDS = 7
/** Ours has a pool for itself and one for its queue. */
const POOLS = { DATABASE_POOL_SIZE: '10', QUEUE_POOL: '4', POOL_SIZE: '14' }

export default {
  name: 'saga-steps',
  measures:
    'runs of five no-op steps, started in a transaction, sent through the queue, driven by the worker, every step in the ledger.',
  peer: 'DBOS Transact: a workflow of five no-op steps, started in process without a queue, every step with its checkpoint.',
  unit: 'steps/s',
  bar: { atLeast: 2 },
  measure,
} satisfies Figure

async function measure({ database, say }: Bench): Promise<Measurement> {
  const urls = { ours: await database(), peer: await database() }
  const ours = startWorker<Batch, Stepped>('saga-steps.ts', {
    ...serviceEnvironment(urls.ours),
    DATABASE_POOL_SIZE: POOLS.DATABASE_POOL_SIZE,
  })
  const peer = startWorker<Batch, Stepped>('dbos-steps.ts', {
    DATABASE_URL: urls.peer,
    POOL_SIZE: POOLS.POOL_SIZE,
  })
  const sides = { ours: { ...ours, recorded: 0 }, peer: { ...peer, recorded: 0 } }

  const batch = async (side: 'ours' | 'peer', runs: number): Promise<number> => {
    await query(urls[side], 'vacuum analyze')
    const { ms, recorded } = await sides[side].ask({ runs, atOnce: AT_ONCE })
    const made = recorded - sides[side].recorded
    if (made !== runs * STEPS) throw new Error(`${side}: ${made} steps were recorded, not ${runs * STEPS}`)
    sides[side].recorded = recorded
    return (made / ms) * 1000
  }

  say(`warming both up, then ${ROUNDS} rounds of ${RUNS} runs each`)
  await batch('ours', WARM_UP_RUNS)
  await batch('peer', WARM_UP_RUNS)
  const rounds = await alternate(
    ROUNDS,
    () => batch('ours', RUNS),
    () => batch('peer', RUNS),
  )
  await ours.stop()
  await peer.stop()
  return {
    ours: median(rounds.map(round => round.ours)),
    peer: median(rounds.map(round => round.peer)),
    details: [
      `${AT_ONCE} runs at once on both sides, each a process of its own with ${POOLS.POOL_SIZE} connections on a database of its own; ${ROUNDS} alternating rounds of ${RUNS} runs after ${WARM_UP_RUNS} of warming up, a \`VACUUM ANALYZE\` before each; medians. After every round the steps in either ledger are counted. PostgreSQL shares the machine with both.`,
      '',
      '| Round | Ours, steps/s | DBOS, steps/s | Ratio |',
      '|---:|---:|---:|---:|',
      ...rounds.map(
        ({ ours, peer }, index) =>
          `| ${index + 1} | ${ours.toFixed(0)} | ${peer.toFixed(0)} | ${(ours / peer).toFixed(2)} |`,
      ),
    ],
  }
}
