// How long the end of a month takes at ten thousand customers, beside what it may take.
import { deepStrictEqual } from 'node:assert'
import { newId } from '../../src/kernel/ids.ts'
import { query } from '../database.ts'
import { type Bench, type Figure, type Measurement, median, roundsTable, thousands } from '../figure.ts'
import { serviceEnvironment, startWorker } from '../process.ts'
import type { Done, Task } from '../processes/months.ts'

const CUSTOMERS = 10_000
const ROUNDS = 3
const CLOSE_WITHIN_S = 60
const LOOK_WITHIN_S = 30
/** What is spent is beyond all of them, in the month that ended and the present one. */
const THRESHOLDS = [50, 80, 100].map(percent => ({ percent, on: 'actual' }))

const close: Figure = {
  name: 'month-close',
  measures: `closing a month of ${thousands(CUSTOMERS)} subscriptions, each with an addon, a day’s usage beyond what is included, and so a statement of three lines: 500 in a transaction.`,
  peer: `the bound of ${CLOSE_WITHIN_S} s.`,
  unit: 's',
  bar: { atMost: 1 },
  measure: bench => measure(bench, { task: 'close', count: CUSTOMERS, boundSeconds: CLOSE_WITHIN_S }),
}

const look: Figure = {
  name: 'budgets-look',
  measures: `a look at ${thousands(CUSTOMERS)} budgets, each of a deployment with a subscription and usage: all measured, every threshold of two months reached and told.`,
  peer: `the bound of ${LOOK_WITHIN_S} s.`,
  unit: 's',
  bar: { atMost: 1 },
  measure: bench =>
    measure(bench, { task: 'look', count: 2 * CUSTOMERS * THRESHOLDS.length, boundSeconds: LOOK_WITHIN_S }),
}

/** Statements are append-only to all but who switches the guards off. */
const UNDO = `set session_replication_role = replica;
  truncate statements, closed_months, budget_alerts, budget_looks cascade`

interface Measured extends Task {
  /** How much of it there is to do. */
  count: number
  boundSeconds: number
}

async function measure(
  { database, say }: Bench,
  { task, count, boundSeconds }: Measured,
): Promise<Measurement> {
  const url = await database()
  const worker = startWorker<Task, Done>('months.ts', serviceEnvironment(url))
  // The tables are made by the service itself: nothing is there yet.
  deepStrictEqual((await worker.ask({ task })).count, 0)
  say(`filling a database with ${thousands(CUSTOMERS)} customers, then ${ROUNDS} rounds`)
  await fill(url)
  const seconds: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const done = await worker.ask({ task })
    deepStrictEqual(done.count, count)
    seconds.push(done.ms / 1000)
    await query(url, UNDO)
  }
  await worker.stop()
  return {
    ours: median(seconds),
    peer: boundSeconds,
    details: [
      `${ROUNDS} rounds, each on the same customers with nothing done before; the median.`,
      '',
      ...roundsTable(
        ['Ours, s'],
        seconds.map(one => [one.toFixed(1)]),
      ),
    ],
  }
}

/** Customers of one plan since the first of October, each with two droplets on its last day and a budget. */
async function fill(url: string): Promise<void> {
  const [plan, version] = [newId(), newId()]
  const begun = `'2026-10-01T00:00:00Z'::timestamptz`
  const hours = `generate_series('2026-10-31T00:00:00Z'::timestamptz, '2026-10-31T23:00:00Z', interval '1 hour') h`
  const statements = [
    `insert into plans (id, code, name, created_at) values ('${plan}', 'starter', 'Starter', ${begun})`,
    `insert into plan_versions (id, plan_id, version, base_price_cents, currency, status, created_at)
     values ('${version}', '${plan}', 1, 3100, 'USD', 'draft', ${begun})`,
    `insert into plan_items (plan_version_id, resource_kind, included_qty, overage_unit, overage_price_cents)
     values ('${version}', 'droplet', 1, 'hour', 2)`,
    `update plan_versions set status = 'active', published_at = ${begun} where id = '${version}'`,
    `insert into cloud_deployments (id, tenant_id, slug, display_name, region, state, llm_mode, created_at, updated_at)
     select uuid_v7(), 'tenant-' || n % 100, 'app-' || n, 'app', 'nyc3', 'active', 'standard', ${begun}, ${begun}
     from generate_series(1, ${CUSTOMERS}) n`,
    `insert into subscriptions (id, deployment_id, plan_version_id, status, current_period_start, current_period_end,
       created_at, updated_at)
     select uuid_v7(), id, '${version}', 'active', '2026-10-01', '2026-10-31', ${begun}, ${begun} from cloud_deployments`,
    `insert into subscription_terms (id, subscription_id, plan_version_id, valid_from)
     select uuid_v7(), id, plan_version_id, created_at from subscriptions`,
    `insert into subscription_addons (id, subscription_id, code, resource_kind, qty, price_cents, currency, quantity,
       created_at, valid_from)
     select uuid_v7(), id, 'extra-volume', 'volume', 1, 500, 'USD', 1, created_at, created_at from subscriptions`,
    `insert into usage_hours (deployment_id, hour, kind, seconds, resources)
     select d.id, h, 'droplet', 7200, 2 from cloud_deployments d, ${hours}`,
    `insert into metered_hours (hour, metered_at) select h, h + interval '1 hour' from ${hours}`,
    `insert into budgets (id, name, tenant_id, deployment_id, measure, amount_minor, currency, thresholds, created_by,
       created_at, updated_at)
     select uuid_v7(), 'Spending', tenant_id, id, 'charge', 100, 'USD', '${JSON.stringify(THRESHOLDS)}', 'bench', ${begun}, ${begun} from cloud_deployments`,
    'vacuum analyze',
  ]
  for (const statement of statements) await query(url, statement)
}

export default [close, look]
