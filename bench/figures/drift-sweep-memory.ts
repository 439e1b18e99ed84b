// What a drift sweep holds in memory: it works in batches, so neither the number of resources nor of drifts may matter.
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { provisionedResources, RESOURCES } from '../provisioned-resources.ts'
import { serviceEnvironment } from '../service-environment.ts'
import { startWorker } from '../worker-process.ts'
import type { DriftSwept } from '../workers/drift-sweep.ts'

const BOUND_MB = 300

export default {
  name: 'drift-sweep-memory',
  measures:
    'the most memory (resident set) that a process of the service ever holds which sweeps 100,000 provisioned resources for drift: first with 1 % of them differing, then with all of them, then again.',
  peer: `the bound of ${BOUND_MB} MB.`,
  unit: 'MB',
  bar: { atMost: 1 },
  measure,
} satisfies Figure

async function measure(bench: Bench): Promise<Measurement> {
  const url = await provisionedResources(bench)
  const worker = startWorker<object, DriftSwept>('drift-sweep.ts', serviceEnvironment(url))
  const sweep = async (after: string) => {
    const { peakBytes, open } = await worker.ask({})
    bench.say(`${after}: ${(peakBytes / 1e6).toFixed(0)} MB, ${open.toLocaleString('en-US')} open`)
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
      'Node’s own limits are as by default.',
      '',
      '| After | Open drift | Peak so far, MB |',
      '|---|---:|---:|',
      ...peaks.map(
        ({ after, open, mb }) => `| ${after} | ${open.toLocaleString('en-US')} | ${mb.toFixed(0)} |`,
      ),
    ],
  }
}
