// How many steps a second the saga engine makes durable, beside DBOS Transact.
import { query } from '../database.ts'
import { alternate, type Bench, type Figure, type Measurement, medians, roundsTable } from '../figure.ts'
import { serviceEnvironment, startWorker } from '../process.ts'

export const STEPS = 5

export interface Batch {
  runs: number
  atOnce: number
}

export interface Stepped {
  ms: number
  /** All steps in the ledger so far, of this batch and those before. */
  recorded: number
}

/** Runs so many, each started when another has ended. */
export async function inFlight(runs: number, atOnce: number, once: () => Promise<void>): Promise<void> {
  let left = runs
  const lane = async () => {
    while (left-- > 0) await once()
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

const AT_ONCE = 16
const WARM_UP_RUNS = 1_500
const RUNS = 800
const ROUNDS = 9
/** Ours has a pool of ten for itself and one of four for its queue. */
const PEER_POOL_SIZE = '14'

const steps: Figure = {
  name: 'saga-steps',
  measures:
    'runs of five no-op steps, started in a transaction, sent through the queue, driven by the worker, every step in the ledger.',
  peer: 'DBOS Transact: a workflow of five no-op steps, started in process without a queue, every step with its checkpoint.',
  unit: 'steps/s',
  bar: { atLeast: 2 },
  measure,
}

async function measure({ database, say }: Bench): Promise<Measurement> {
  const urls = { ours: await database(), peer: await database() }
  const ours = startWorker<Batch, Stepped>('saga-steps.ts', serviceEnvironment(urls.ours))
  const peer = startWorker<Batch, Stepped>('dbos-steps.ts', {
    DATABASE_URL: urls.peer,
    POOL_SIZE: PEER_POOL_SIZE,
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
    ...medians(
      rounds,
      rate => rate,
      rate => rate,
    ),
    details: [
      `${AT_ONCE} runs at once on both sides, each a process of its own with ${PEER_POOL_SIZE} connections on a database of its own; ${ROUNDS} alternating rounds of ${RUNS} runs after ${WARM_UP_RUNS} of warming up, a \`VACUUM ANALYZE\` before each; medians. After every round the steps in either ledger are counted. PostgreSQL shares the machine with both.`,
      '',
      ...roundsTable(
        ['Ours, steps/s', 'DBOS, steps/s', 'Ratio'],
        rounds.map(({ ours, peer }) => [ours, peer, (ours / peer).toFixed(2)]),
      ),
    ],
  }
}

export default [steps]
