// What workers were to do: every run at its end, no machine left behind, every job done, everybody told.
import { findings } from '../findings.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Cluster } from './cluster.ts'

interface Unsettled {
  runs: number
  deliveries: number
  invoices: number
  entries: number
  jobs: number
}

/**
 * Jobs that somebody works on, or that nobody does although they have been due for so long; what is for later is nobody's
 * debt.
 */
const owed = (seconds: number, active = 'true') => `name <> 'dead_letters' and (state = 'active' and ${active}
  or state in ('created', 'retry') and start_after < now() - interval '${seconds} seconds')`

/** The schedule goes on: what it has just begun is not stuck. */
const STUCK = owed(20, "started_on < now() - interval '20 seconds'")

const UNSETTLED = `select
  (select count(*)::int from saga_runs where finished_at is null) as runs,
  (select count(*)::int from webhook_deliveries where status = 'pending') as deliveries,
  (select count(*)::int from cloud_invoices
    where ingest_status <> 'ingested' or pushed_lines_hash is distinct from lines_hash) as invoices,
  (select count(*)::int from audit_log a where not exists (select from audit_seals s where s.entry_id = a.id)) as entries,
  (select count(*)::int from pgboss.job where ${owed(5)}) as jobs`

export async function unsettled({ ask }: Pick<Cluster, 'ask'>): Promise<Unsettled> {
  return (await ask<Unsettled & Record<string, number>>(UNSETTLED))[0]!
}

export const isSettled = (left: Unsettled) => Object.values(left).every(count => count === 0)

export async function checkWork(
  cluster: Cluster,
  sandbox: Sandbox,
  received: Set<string>,
): Promise<string[]> {
  const figures = await findings(cluster.url(), sandbox.providerUrl)
  const left = await unsettled(cluster)
  const turnedBack = await cluster.ask<{ count: number; kind: string; step: string; reason: string }>(`
    select count(*)::int as count, kind, error ->> 'step' as step,
      (array_agg(id || ' ' || (error ->> 'reason') order by created_at))[1] as reason
    from saga_runs where status in ('rolled_back', 'failed') and not cancel_requested
      and error ->> 'reason' not like '%outcome is unknown%'
    group by 2, 3, regexp_replace(error ->> 'reason', '[0-9a-f-]{36}|[0-9]+', '…', 'g')`)
  // A tick that was given up is made up for by the next one.
  const letters = await cluster.ask<{ job: string; count: number; why: string }>(
    `select data ->> 'job' as job, count(*)::int as count,
       min(retry_count || ' retries in ' || extract(epoch from completed_on - created_on)::int || ' s, ' || coalesce(left(output::text, 160), 'no error')) as why
     from pgboss.job j where state = 'failed' and not exists (
       select from task_runs r where 'task.' || r.task = j.data ->> 'job' and r.status = 'completed' and r.started_at > j.completed_on)
     group by 1`,
  )
  const stuck = await cluster.ask<{ what: string }>(
    `select name || ' ' || state || ' for ' || extract(epoch from now() - coalesce(started_on, start_after))::int || ' s' as what
     from pgboss.job where ${STUCK}`,
  )
  const untold = await cluster.ask<{ id: string }>(
    `select id::text from webhook_events where type like 'deployment.%' or type like 'saga.%'`,
  )
  const wrong: [number, string][] = [
    [left.runs, 'runs of sagas have not ended'],
    [left.deliveries, 'webhook deliveries are still pending'],
    [left.invoices, 'invoices are not ingested or not pushed'],
    [left.entries, 'entries of the audit log are not sealed'],
    [stuck.length, `jobs are stuck (${stuck.map(({ what }) => what).join(', ')})`],
    ...turnedBack.map(({ count, kind, step, reason }): [number, string] => [
      count,
      `runs were turned back although no worker died over them (${kind}, ${step}: ${reason})`,
    ]),
    [figures.steps_begun_twice, 'steps were begun more than once'],
    [figures.ordered_twice, 'droplets were ordered more than once'],
    [figures.ledger_out_of_order, 'rows of the ledger are out of order'],
    [figures.droplets_nobody_owns, 'droplets are left that no completed run owns'],
    [figures.droplets_lost, 'completed runs have lost their droplet'],
    [figures.reservations_left, 'places of plans are taken by runs that have ended'],
    ...letters.map(({ job, count, why }): [number, string] => [count, `jobs were given up: ${job} (${why})`]),
    [untold.filter(({ id }) => !received.has(id)).length, `of ${untold.length} events reached no receiver`],
    ...(await finance(cluster, sandbox)),
  ]
  return wrong.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
}

interface Told {
  invoices: { external_id: string; id: string }[]
}

async function finance(cluster: Cluster, { financeUrl }: Sandbox): Promise<[number, string][]> {
  const { invoices } = (await (await fetch(`${financeUrl}/__sandbox/invoices`)).json()) as Told
  const kept = new Map(invoices.map(({ external_id, id }) => [external_id, id]))
  const known = await cluster.ask<{ invoice_uuid: string; finance_invoice_id: string | null }>(
    'select invoice_uuid::text, finance_invoice_id from cloud_invoices',
  )
  const other = known.filter(row => kept.get(row.invoice_uuid) !== row.finance_invoice_id)
  return [
    [invoices.length - kept.size, 'invoices are at finance more than once'],
    [other.length, 'invoices have another id at finance than here'],
    [kept.size - known.length, 'invoices at finance are unknown here'],
  ]
}
