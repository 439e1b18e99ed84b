// What a sweep costs beside the least that its writing could cost, when one resource in a hundred has changed.
import type { Figure } from '../figure.ts'
import { measureSweep, PEER } from '../sweep.ts'

export default {
  name: 'inventory-sweep-changed',
  measures:
    'a whole sweep over 100,000 known droplets, one in a hundred of them resized: mapped, fingerprinted, written in batches, struck, finished.',
  peer: PEER,
  unit: 'ms',
  bar: { atMost: 1.5 },
  measure: bench => measureSweep(bench, { changePercent: 1 }),
} satisfies Figure
