// The stricter sister of single-row-read: the service names its hot statements, so that PostgreSQL plans them once, and
// that pays for some of the door. Here the bare route does the same, and what is left is the door alone. The
// specification sets no bar for this one; ours is there to notice when the door grows.
import type { Figure } from '../figure.ts'
import { MEASURES, measureRead } from '../single-row.ts'

export default {
  name: 'single-row-read-prepared',
  measures: MEASURES,
  peer: 'the bare route of single-row-read with its statement named, so that PostgreSQL plans it once for each connection.',
  unit: 'requests/s',
  bar: { atLeast: 0.6 },
  measure: bench => measureRead(bench, { prepared: true }),
} satisfies Figure
