// What became of the runs, asked of the database and of the simulated provider.
import pg from 'pg'

export interface Findings {
  statuses: Record<string, number>
  not_ended: number
  /** Runs whose worker died in the middle of a step, by the step. */
  interrupted: Record<string, number>
  steps_begun_twice: number
  ordered_twice: number
  ledger_out_of_order: number
  droplets_nobody_owns: number
  droplets_lost: number
  completed_without_droplet: number
  reservations_left: number
}

interface Figures {
  statuses: Record<string, number>
  not_ended: number
  interrupted: Record<string, number>
  steps_begun_twice: number
  ledger_out_of_order: number
  reservations_left: number
  owners: { saga_id: string; droplet_id: string }[] | null
}

/**
 * In order means: indexes from 0 without a gap, with the names the run was started with; no step begun before the one
 * before it was finished; nothing but the last step failed, and only in a run that did not complete; nothing compensated
 * in a run that did; and the higher of two compensated steps compensated first.
 */
const FIGURES = `
  with steps as (
    select s.*, r.status as run_status, r.step_modules,
      row_number() over run - 1 as place, lag(s.finished_at) over run as before_finished, lead(s.step_idx) over run as next,
      min(s.compensated_at) over (partition by s.saga_id order by s.step_idx rows between 1 following and unbounded following) as later_compensated
    from saga_step_results s join saga_runs r on r.id = s.saga_id
    window run as (partition by s.saga_id order by s.step_idx)
  )
  select
    (select coalesce(jsonb_object_agg(status, n), '{}') from (select status, count(*) as n from saga_runs group by status) s) as statuses,
    (select count(*)::int from saga_runs where finished_at is null) as not_ended,
    (select coalesce(jsonb_object_agg(step, n), '{}') from (
      select error->>'step' as step, count(*) as n from saga_runs where error->>'reason' like '%outcome is unknown%' group by 1) s) as interrupted,
    (select count(*)::int from saga_step_results where attempts <> 1) as steps_begun_twice,
    (select count(*)::int from steps where
      place <> step_idx or name <> step_modules[step_idx + 1]
      or started_at < before_finished or (step_idx > 0 and before_finished is null)
      or (status = 'failed' and (next is not null or run_status = 'completed'))
      or (run_status = 'completed' and status <> 'completed')
      or (status = 'compensated' and later_compensated > compensated_at)) as ledger_out_of_order,
    (select count(*)::int from provisioning_reservations v join saga_runs r on r.id = v.saga_id where r.status in ('completed', 'rolled_back')) as reservations_left,
    (select jsonb_agg(jsonb_build_object('saga_id', p.saga_id, 'droplet_id', c.provider_id))
      from cloud_provisioned p join saga_runs r on r.id = p.saga_id and r.status = 'completed'
      join cloud_resources c on c.id = p.resource_id and c.deleted_at is null) as owners`

export async function findings(databaseUrl: string, providerUrl: string): Promise<Findings> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<Figures>(FIGURES).finally(() => client.end())
  const { owners, ...figures } = rows[0]!
  const { droplet } = await ask<{ droplet: Tagged[] }>(`${providerUrl}/__sandbox/resources/droplet`)
  const { droplets } = await ask<{ droplets: Tagged[] }>(`${providerUrl}/__sandbox/ordered`)
  const living = new Map(droplet.flatMap(one => (sagaOf(one) ? [[String(one.id), sagaOf(one)]] : [])))
  const owned = new Map((owners ?? []).map(owner => [owner.droplet_id, owner.saga_id]))
  const orders = droplets.map(sagaOf)
  return {
    ...figures,
    ordered_twice: orders.length - new Set(orders).size,
    droplets_nobody_owns: [...living].filter(([id, saga]) => owned.get(id!) !== saga).length,
    droplets_lost: [...owned].filter(([id]) => !living.has(id)).length,
    completed_without_droplet: (figures.statuses.completed ?? 0) - new Set(owned.values()).size,
  }
}

interface Tagged {
  id: number
  tags: string[]
}

const sagaOf = ({ tags }: Tagged) => tags.find(tag => tag.startsWith('saga:'))?.slice('saga:'.length)

async function ask<T>(url: string): Promise<T> {
  return (await fetch(url)).json() as Promise<T>
}
