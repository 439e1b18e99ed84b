// The peer of usage events: the same rows, ready in memory, by one named statement for each batch into the same table, as one would
// write it by hand. It reads no request, judges nothing and adds nothing up.
import pg from 'pg'
import type { UsageEvent } from '../../src/features/usage-events/cloud-event.ts'
import { working } from '../process.ts'

export interface Insert {
  /** Each one a statement; none: it is only told to be ready. */
  batches: UsageEvent[][]
  atOnce: number
}

const { DATABASE_URL, DATABASE_POOL_SIZE } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL_SIZE) })

const INSERT = {
  name: 'usage',
  text: `insert into usage_events (tenant_id, source, event_id, deployment_id, meter, at, value, member, received_at)
    select e.*, $9::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::timestamptz[],
      $7::numeric[], $8::text[]) e on conflict do nothing`,
}

working<Insert, { ms: number }>(async ({ batches, atOnce }) => {
  const began = performance.now()
  const left = batches.values()
  const writer = async () => {
    for (const rows of left) {
      const column = (name: keyof UsageEvent) => rows.map(row => row[name])
      await pool.query({
        ...INSERT,
        values: [
          ...[column('tenant_id'), column('source'), column('event_id'), column('deployment_id')],
          ...[column('meter'), column('at'), column('value'), column('member'), new Date().toISOString()],
        ],
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, writer))
  return { ms: performance.now() - began }
})
