// What the drift sweep costs beside SQL that merely joins the same rows and counts their fields.
import { deepStrictEqual } from 'node:assert'
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { MISMATCHES, provisionedResources, RESOURCES } from '../provisioned-resources.ts'
import { alternate, median } from '../rounds.ts'
import { serviceEnvironment } from '../service-environment.ts'
import { startWorker } from '../worker-process.ts'
import type { DriftSwept } from '../workers/drift-sweep.ts'
import type { Counted } from '../workers/join-and-count.ts'

const WARM_UP = 2
const ROUNDS = 7

export default {
  name: 'drift-sweep',
  measures:
    'a whole drift sweep over 100,000 provisioned resources with ten desired fields each, of which 1,000 differ in one: compared, judged, 1,000 drifts opened and told in the resources’ logs.',
  peer: 'one SQL statement that joins the same rows, takes the specs apart and counts the fields (`… join … cross join lateral jsonb_each(spec)`), comparing nothing.',
  unit: 'ms',
  bar: { atMost: 3 },
  measure,
} satisfies Figure

interface Ours {
  /** Nothing was open before: everything opens. */
  first: number
  /** The same an hour later: everything is open already. */
  again: number
}

async function measure(bench: Bench): Promise<Measurement> {
  const url = await provisionedResources(bench)
  const sweeping = startWorker<object, DriftSwept>('drift-sweep.ts', serviceEnvironment(url))
  const counting = startWorker<object, Counted>('join-and-count.ts', { DATABASE_URL: url })

  const ours = async (): Promise<Ours> => {
    await query(url, 'truncate cloud_drift')
    const first = await sweeping.ask({})
    deepStrictEqual([first.open, first.told], [MISMATCHES, MISMATCHES])
    const again = await sweeping.ask({})
    deepStrictEqual([again.open, again.told], [MISMATCHES, 0])
    return { first: first.ms, again: again.ms }
  }
  const peer = async () => {
    const counted = await counting.ask({})
    deepStrictEqual(counted.fields, RESOURCES * 10)
    return counted
  }
  bench.say(`warming both up, then ${ROUNDS} rounds`)
  await alternate<object>(WARM_UP, ours, peer)
  const rounds = (await alternate<object>(ROUNDS, ours, peer)) as { ours: Ours; peer: Counted }[]
  await sweeping.stop()
  await counting.stop()

  const first = median(rounds.map(round => round.ours.first))
  const again = median(rounds.map(round => round.ours.again))
  const fields = median(rounds.map(round => round.peer.ms))
  const rows = median(rounds.map(round => round.peer.rowsMs))
  return {
    ours: first,
    peer: fields,
    details: [
      `${ROUNDS} alternating rounds after ${WARM_UP} of warming up; medians. No drift is open before a round, so that each sweep opens and tells all of it. PostgreSQL may use parallel workers for either.`,
      '',
      `The same sweep once more, everything being open already: ${again.toFixed(0)} ms, ${(again / fields).toFixed(2)} of the peer.`,
      '',
      `Beside a join that counts the rows alone (${rows.toFixed(0)} ms; it reads two indexes or little more, no spec and no attribute): ${(first / rows).toFixed(1)}, and ${(again / rows).toFixed(1)} when everything is open already.`,
      '',
      '| Round | Ours, ms | Peer, ms | Ratio | Ours again, ms | Rows alone, ms |',
      '|---:|---:|---:|---:|---:|---:|',
      ...rounds.map(
        ({ ours, peer }, index) =>
          `| ${index + 1} | ${ours.first.toFixed(0)} | ${peer.ms.toFixed(0)} | ${(ours.first / peer.ms).toFixed(2)} | ${ours.again.toFixed(0)} | ${peer.rowsMs.toFixed(0)} |`,
      ),
    ],
  }
}
