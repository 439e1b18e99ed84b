// The peer of the inventory's list: the page as one would write it by hand for this one route and one tenant, with
// nothing around it and without saying how fresh the rows are. The statement is named, so that PostgreSQL plans it once
// for each connection, as it does for the service.
import fastify from 'fastify'
import pg from 'pg'
import { serving } from '../server-process.ts'

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
})
const tenant = process.env.TENANT

const text = `
  select id, provider, provider_id, kind, name, region, status, tenant_id, project_id, deployment_id, tags, attrs,
    first_seen_at, last_seen_at, stale_strike_count, deleted_at
  from cloud_resources
  where tenant_id = $1 and deleted_at is null
  order by id limit $2`

const app = fastify()

app.get<{ Querystring: { limit: string } }>('/api/v1/inventory', async (request, reply) => {
  const limit = Number(request.query.limit)
  const { rows } = await pool.query({ name: 'inventory', text, values: [tenant, limit + 1] })
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const next_cursor =
    rows.length > limit ? Buffer.from(JSON.stringify(['inventory', last.id])).toString('base64url') : null
  reply.header('content-type', 'application/json; charset=utf-8')
  return JSON.stringify({ data, next_cursor })
})

serving(await app.listen({ host: '127.0.0.1', port: 0 }))
