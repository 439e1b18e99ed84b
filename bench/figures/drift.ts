// What the drift sweep costs beside SQL that merely joins the same rows and counts their fields, and what it holds in memory.
import { deepStrictEqual } from 'node:assert'
import { query } from '../database.ts'
import {
  alternate,
  type Bench,
  type Figure,
  type Measurement,
  median,
  roundsTable,
  table,
  thousands,
} from '../figure.ts'
import { serviceEnvironment, startWorker } from '../process.ts'
import type { DriftSwept } from '../processes/drift-sweep.ts'
import type { Counted } from '../processes/join-and-count.ts'
import { settle, sweeper } from './inventory-sweeps.ts'

const RESOURCES = 100_000
const MISMATCHES = RESOURCES / 100
const WARM_UP = 2
const ROUNDS = 7
const BOUND_MB = 300

const sweep: Figure = {
  name: 'drift-sweep',
  measures:
    'a whole drift sweep over 100,000 provisioned resources with ten desired fields each, of which 1,000 differ in one: compared, judged, 1,000 drifts opened and told in the resources’ logs.',
  peer: 'one SQL statement that joins the same rows, takes the specs apart and counts the fields (`… join … cross join lateral jsonb_each(spec)`), comparing nothing.',
  unit: 'ms',
  bar: { atMost: 3 },
  measure: measureSweep,
}

interface Ours {
  /** Nothing was open before: everything opens. */
  first: number
  /** The same an hour later: everything is open already. */
  again: number
}

async function measureSweep(bench: Bench): Promise<Measurement> {
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
  await alternate(WARM_UP, ours, peer)
  const rounds = await alternate(ROUNDS, ours, peer)
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
      ...roundsTable(
        ['Ours, ms', 'Peer, ms', 'Ratio', 'Ours again, ms', 'Rows alone, ms'],
        rounds.map(({ ours, peer }) => [
          ours.first,
          peer.ms,
          (ours.first / peer.ms).toFixed(2),
          ours.again,
          peer.rowsMs,
        ]),
      ),
    ],
  }
}

const memory: Figure = {
  name: 'drift-sweep-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which sweeps 100,000 provisioned resources for drift: first with 1 % of them differing, then with all of them, then again.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure: measureMemory,
}

async function measureMemory(bench: Bench): Promise<Measurement> {
  const url = await provisionedResources(bench)
  const worker = startWorker<object, DriftSwept>('drift-sweep.ts', serviceEnvironment(url))
  const sweep = async (after: string) => {
    const { peakBytes, open } = await worker.ask({})
    bench.say(`${after}: ${(peakBytes / 1e6).toFixed(0)} MB, ${thousands(open)} open`)
    return { after, open, mb: peakBytes / 1e6 }
  }
  const peaks = [await sweep('a sweep with 1 % differing')]
  await query(url, `update cloud_provisioned set spec = spec || '{"status": "off"}'`)
  try {
    peaks.push(await sweep('a sweep with all differing'), await sweep('the same again'))
    if (peaks[1]!.open < RESOURCES) throw new Error('not all of them differed')
  } finally {
    // Other figures of the run share these rows.
    await query(
      url,
      `update cloud_provisioned p set spec = p.spec || jsonb_build_object('status', r.status) from cloud_resources r where r.id = p.resource_id`,
    )
    await query(url, 'vacuum full analyze cloud_provisioned')
    await worker.stop()
  }
  return {
    ours: peaks.at(-1)!.mb,
    peer: BOUND_MB,
    details: [
      'Node’s own limits are as the service is started with.',
      '',
      ...table(
        ['After', 'Open drift', 'Peak so far, MB'],
        peaks.map(({ after, open, mb }) => [after, thousands(open), mb]),
      ),
    ],
  }
}

/**
 * Droplets put there by the service itself, each provisioned with ten desired fields: four columns of the resource, tags
 * among them, five plain attributes and a list. One in a hundred differs, in one of five ways.
 */
const SPECS = `
  insert into cloud_provisioned (resource_id, spec, created_at, updated_at)
  select id, jsonb_build_object(
      'name', name, 'region', region, 'status', status, 'tags', tags, 'size_slug', attrs -> 'size_slug',
      'vcpus', attrs -> 'vcpus', 'memory', attrs -> 'memory', 'disk', attrs -> 'disk', 'locked', attrs -> 'locked',
      'features', attrs -> 'features')
    || case when n % 100 > 0 then '{}' else case n / 100 % 5
      when 0 then '{"memory": 1}' when 1 then '{"name": "another"}' when 2 then '{"tags": ["another"]}'
      when 3 then '{"features": ["backups"]}' else '{"locked": true}' end::jsonb end, now(), now()
  from (select *, row_number() over (order by id) as n from cloud_resources) r order by id`

const provisionedResources = ({ filled, say }: Bench): Promise<string> =>
  filled('provisioned-resources', async url => {
    say(`filling a database with ${thousands(RESOURCES)} droplets and what is desired of them`)
    const worker = sweeper(url, RESOURCES)
    await worker.ask({ changePercent: 0 })
    await worker.stop()
    await query(url, SPECS)
    await settle(url)
    await query(url, 'vacuum analyze cloud_provisioned')
  })

export default [sweep, memory]
