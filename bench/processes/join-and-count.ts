// The floor of the drift sweep: SQL that joins the same rows and counts, and compares nothing.
import pg from 'pg'
import { working } from '../process.ts'

export interface Counted {
  /** Joining and counting every field. */
  ms: number
  fields: number
  /** Joining and counting the rows alone, which reads no spec and no attribute. */
  rowsMs: number
}

const ROWS =
  'select count(*)::int as n from cloud_provisioned p join cloud_resources r on r.id = p.resource_id'
const FIELDS = `${ROWS} cross join lateral jsonb_each(p.spec) f`

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
// As the sweep: what compiling would add depends on PostgreSQL's estimate, not on the work.
await client.query('set jit = off')

async function timed(text: string): Promise<{ n: number; ms: number }> {
  const began = performance.now()
  const { rows } = await client.query(text)
  return { n: rows[0].n, ms: performance.now() - began }
}

working<object, Counted>(async () => {
  const { ms: rowsMs } = await timed(ROWS)
  const { n: fields, ms } = await timed(FIELDS)
  return { ms, fields, rowsMs }
})
