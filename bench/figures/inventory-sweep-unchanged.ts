// What a sweep costs beside the least that its writing could cost, when nothing has changed, as in most sweeps.
import type { Figure } from '../figure.ts'
import { measureSweep, PEER } from '../sweep.ts'

export default {
  name: 'inventory-sweep-unchanged',
  measures:
    'a whole sweep over 100,000 known droplets, none of them changed: mapped, fingerprinted, written in batches, struck, finished.',
  peer: PEER,
  unit: 'ms',
  bar: { atMost: 1.5 },
  measure: bench => measureSweep(bench, { changePercent: 0 }),
} satisfies Figure
