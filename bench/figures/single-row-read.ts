// What the door costs: one authenticated, validated row through the whole service, beside the same row from a bare
// route as most people write one.
import type { Figure } from '../figure.ts'
import { MEASURES, measureRead } from '../single-row.ts'

export default {
  name: 'single-row-read',
  measures: MEASURES,
  peer: 'the same row from a bare Fastify route with a hand-written parameterized `pg` query (`pool.query(text, values)`): no authentication, no schema, no log.',
  unit: 'requests/s',
  bar: { atLeast: 0.8 },
  measure: bench => measureRead(bench, { prepared: false }),
} satisfies Figure
