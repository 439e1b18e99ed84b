// The peer of the single-row reads: what one would write by hand for this one route, with nothing around it. Where the
// service works a value out (the next run), this has it for nothing. PREPARED=yes names the statement, so that
// PostgreSQL plans it once for each connection.
import fastify from 'fastify'
import pg from 'pg'
import { serving } from '../server-process.ts'

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
})
const nextRunAt = process.env.NEXT_RUN_AT

const text = `
  select t.name, t.description, t.queue, t.cron, t.paused_at, t.paused_by, r.id, r.trigger, r.requested_by,
         r.status, r.attempts, r.requested_at, r.started_at, r.finished_at, r.error
  from scheduled_tasks t
  left join lateral (select * from task_runs where task = t.name order by id desc limit 1) r on true
  where t.name = $1`

const read =
  process.env.PREPARED === 'yes'
    ? (name: string) => pool.query({ name: 'task', text, values: [name] })
    : (name: string) => pool.query(text, [name])

const app = fastify()

app.get<{ Params: { name: string } }>('/api/v1/admin/scheduled_tasks/:name', async (request, reply) => {
  const { rows } = await read(request.params.name)
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
      },
      next_run_at: nextRunAt,
    },
  })
})

serving(await app.listen({ host: '127.0.0.1', port: 0 }))
