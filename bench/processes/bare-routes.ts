// The peer of the routes: each as one would write it by hand, with nothing around it: no authentication, no schema, no
// log. Every statement has a name, so that PostgreSQL plans it once for each connection, as it does for the service.
import fastify from 'fastify'
import pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'
import { serving } from '../process.ts'

const { DATABASE_URL, DATABASE_POOL_SIZE, TENANT, NEXT_RUN_AT, UNNAMED } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL_SIZE) })
const app = fastify()

interface Statement {
  name: string
  text: string
}
const named = (statement: Statement, values: unknown[] = []) => ({ ...statement, values })

// Deployments.

const CREATE = {
  name: 'create',
  text: `insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
    values ($1, $2, $3, $3, 'nyc3', 'active', 'standard', $4, $4) returning *`,
}
const DEPLOYMENT = { name: 'deployment', text: 'select * from cloud_deployments where id = $1' }
// As the service shows it: the version that holds now, and what is to come.
const SUBSCRIPTION = {
  name: 'subscription',
  text: `select s.*, p.code, p.name, v.version, v.base_price_cents, v.currency,
      (select coalesce(json_agg(a), '[]') from subscription_addons a
       where a.subscription_id = s.id and a.valid_from <= now() and (a.valid_to is null or a.valid_to > now())) as addons,
      (select coalesce(json_agg(a), '[]') from subscription_addons a
       where a.subscription_id = s.id and a.valid_from > now()
         and (a.valid_to is null or a.valid_to > a.valid_from)) as scheduled_addons,
      (select coalesce(json_agg(t), '[]') from subscription_terms t
       where t.subscription_id = s.id and t.valid_from > now()
         and (t.valid_to is null or t.valid_to > t.valid_from)) as scheduled_versions
    from subscriptions s
    join plan_versions v on v.id = coalesce((
      select t.plan_version_id from subscription_terms t
      where t.subscription_id = s.id and t.valid_from <= now() and (t.valid_to is null or t.valid_to > t.valid_from)
      order by t.valid_from desc limit 1), s.plan_version_id)
    join plans p on p.id = v.plan_id
    where s.deployment_id = $1`,
}
const EVENTS = {
  name: 'events',
  text: `select * from (
      select * from cloud_deployment_events where deployment_id = $1 order by id desc limit 50) e order by id`,
}
const LOCK = { name: 'lock', text: 'select state from cloud_deployments where id = $1 for update' }
const MOVE = {
  name: 'move',
  text: 'update cloud_deployments set state = $2, updated_at = now() where id = $1 returning *',
}
const RECORD = {
  name: 'record',
  text: `insert into cloud_deployment_events (id, deployment_id, from_state, to_state, actor, created_at)
    values ($1, $2, $3, $4, 'bench', now()) returning *`,
}
const FOLLOW = {
  name: 'follow',
  text: "update subscriptions set status = $2, updated_at = now() where deployment_id = $1 and status <> 'cancelled'",
}
const deployments = '/api/v1/deployments'

app.post<{ Body: { slug: string; tenant_id: string } }>(deployments, async (request, reply) => {
  const { slug, tenant_id } = request.body
  const { rows } = await pool.query(named(CREATE, [newId(), tenant_id, slug, new Date()]))
  return reply.code(201).send({ data: rows[0] })
})

app.get<{ Params: { id: string } }>(`${deployments}/:id`, async (request, reply) => {
  const values = [request.params.id]
  const [deployment, subscription, events] = await Promise.all(
    [DEPLOYMENT, SUBSCRIPTION, EVENTS].map(statement => pool.query(named(statement, values))),
  )
  if (!deployment!.rows[0]) return reply.code(404).send({ error: 'not found' })
  return reply.send({
    data: { ...deployment!.rows[0], subscription: subscription!.rows[0] ?? null, events: events!.rows },
  })
})

app.post<{ Params: { id: string }; Body: { state: string } }>(
  `${deployments}/:id/transition`,
  async (request, reply) => {
    const { id } = request.params
    const { state } = request.body
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows } = await client.query(named(LOCK, [id]))
      const moved = await client.query(named(MOVE, [id, state]))
      const event = await client.query(named(RECORD, [newId(), id, rows[0].state, state]))
      await client.query(named(FOLLOW, [id, state]))
      await client.query('commit')
      return reply.send({ data: { ...moved.rows[0], event: event.rows[0] } })
    } finally {
      client.release()
    }
  },
)

// A page of one tenant's resources, without saying how fresh they are.

const INVENTORY = {
  name: 'inventory',
  text: `select id, provider, provider_id, kind, name, region, status, tenant_id, project_id, deployment_id, tags, attrs,
      first_seen_at, last_seen_at, stale_strike_count, missing_since, deleted_at
    from cloud_resources
    where tenant_id = $1 and deleted_at is null
    order by id limit $2`,
}

app.get<{ Querystring: { limit: string } }>('/api/v1/inventory', async (request, reply) => {
  const limit = Number(request.query.limit)
  const { rows } = await pool.query(named(INVENTORY, [TENANT, limit + 1]))
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const next_cursor =
    rows.length > limit ? Buffer.from(JSON.stringify(['inventory', last.id])).toString('base64url') : null
  reply.header('content-type', 'application/json; charset=utf-8')
  return JSON.stringify({ data, next_cursor })
})

// One row. Where the service works a value out (the next run), this has it for nothing. UNNAMED=yes sends the statement
// as most people write one.

const TASK = {
  name: 'task',
  text: `select t.name, t.description, t.queue, t.cron, t.paused_at, t.paused_by, r.id, r.trigger, r.requested_by,
      r.status, r.attempts, r.requested_at, r.started_at, r.finished_at, r.error, r.result
    from scheduled_tasks t
    left join lateral (select * from task_runs where task = t.name order by id desc limit 1) r on true
    where t.name = $1`,
}

app.get<{ Params: { name: string } }>('/api/v1/admin/scheduled_tasks/:name', async (request, reply) => {
  const values = [request.params.name]
  const { rows } = await (UNNAMED === 'yes' ? pool.query(TASK.text, values) : pool.query(named(TASK, values)))
  const [row] = rows
  if (!row) return reply.code(404).send({ error: 'not found' })
  return reply.send({
    data: {
      name: row.name,
      description: row.description,
      queue: row.queue,
      cron: row.cron,
      paused: row.paused_at !== null,
      paused_at: row.paused_at,
      paused_by: row.paused_by,
      last_run: row.id && {
        id: row.id,
        task: row.name,
        trigger: row.trigger,
        requested_by: row.requested_by,
        status: row.status,
        attempts: row.attempts,
        requested_at: row.requested_at,
        started_at: row.started_at,
        finished_at: row.finished_at,
        error: row.error,
        result: row.result,
      },
      next_run_at: NEXT_RUN_AT,
    },
  })
})

serving(await app.listen({ host: '127.0.0.1', port: 0 }))
