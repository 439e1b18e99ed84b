// The peer of the deployments' figures: each route as one would write it by hand, with nothing around it.
import fastify from 'fastify'
import pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'
import { serving } from '../server-process.ts'

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
})
const app = fastify()
const base = '/api/v1/deployments'

app.post<{ Body: { slug: string; tenant_id: string } }>(base, async (request, reply) => {
  const { slug, tenant_id } = request.body
  const now = new Date()
  const { rows } = await pool.query(
    `insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
     values ($1, $2, $3, $3, 'nyc3', 'active', 'standard', $4, $4) returning *`,
    [newId(), tenant_id, slug, now],
  )
  return reply.code(201).send({ data: rows[0] })
})

app.get<{ Params: { id: string } }>(`${base}/:id`, async (request, reply) => {
  const { id } = request.params
  const [deployment, subscription, events] = await Promise.all([
    pool.query('select * from cloud_deployments where id = $1', [id]),
    pool.query(
      `select s.*, p.code, p.name, v.version, v.base_price_cents, v.currency,
         (select coalesce(json_agg(a), '[]') from subscription_addons a where a.subscription_id = s.id) as addons
       from subscriptions s join plan_versions v on v.id = s.plan_version_id join plans p on p.id = v.plan_id
       where s.deployment_id = $1`,
      [id],
    ),
    pool.query('select * from cloud_deployment_events where deployment_id = $1 order by id', [id]),
  ])
  if (!deployment.rows[0]) return reply.code(404).send({ error: 'not found' })
  return reply.send({
    data: { ...deployment.rows[0], subscription: subscription.rows[0] ?? null, events: events.rows },
  })
})

app.post<{ Params: { id: string }; Body: { state: string } }>(
  `${base}/:id/transition`,
  async (request, reply) => {
    const { id } = request.params
    const { state } = request.body
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows } = await client.query('select state from cloud_deployments where id = $1 for update', [
        id,
      ])
      const moved = await client.query(
        'update cloud_deployments set state = $2, updated_at = now() where id = $1 returning *',
        [id, state],
      )
      const event = await client.query(
        `insert into cloud_deployment_events (id, deployment_id, from_state, to_state, actor, created_at)
       values ($1, $2, $3, $4, 'bench', now()) returning *`,
        [newId(), id, rows[0].state, state],
      )
      await client.query(
        "update subscriptions set status = $2, updated_at = now() where deployment_id = $1 and status <> 'cancelled'",
        [id, state],
      )
      await client.query('commit')
      return reply.send({ data: { ...moved.rows[0], event: event.rows[0] } })
    } finally {
      client.release()
    }
  },
)

serving(await app.listen({ host: '127.0.0.1', port: 0 }))
