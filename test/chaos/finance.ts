// Many invoices, workers that are killed while they push, and a finance service whose answers are lost after it has kept
// the invoice: what must be there in the end, once each. Behind `npm run chaos:finance` and a short test.

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createSandboxFinance } from '../../sandbox/finance/server.ts'
import type { Owner } from '../support/lasting.ts'
import { type Service, startService } from '../support/process.ts'
import { SECRET } from '../support/tokens.ts'

export interface ChaosOptions {
  /** Of a database that is migrated and empty. */
  databaseUrl: string
  invoices: number
  workers: number
  /** How many workers are killed while pushes are under way. */
  kills: number
  /** The share of finance's answers that are lost after the invoice was kept. */
  lost: number
  /** From keeping an invoice to saying so: where a kill does most harm. */
  latencyMs: number
  /** All workers die together, and the waits of the queue (backoff, heartbeats of the dead) pass at once. */
  hurried: boolean
  onProgress?: (done: { pushed: number; kills: number }) => void
}

export interface ChaosFigures {
  invoices: number
  pushes: number
  answers_lost: number
  kills: number
  kept_by_finance: number
  ids_recorded: number
  recorded_as_updated: number
  refused_tokens: number
  dead_letters: number
  seconds: number
}

const POLL_MS = 100

export async function chaosFinance(owner: Owner, options: ChaosOptions): Promise<ChaosFigures> {
  const { databaseUrl, invoices, kills, lost, hurried } = options
  const finance = createSandboxFinance({ secret: SECRET, latencyMs: options.latencyMs })
  const sql = new pg.Client({ connectionString: databaseUrl, application_name: 'chaos' })
  await sql.connect()
  owner.after(async () => {
    await sql.end()
    await finance.close()
  })
  const { url } = await finance.listen()
  finance.faults.add({ fault: 'drop_after_commit', times: 'always', share: lost })
  await insertInvoices(sql, invoices)

  const env = {
    DATABASE_URL: databaseUrl,
    FINANCE_URL: url,
    // Nobody is there: this is about finance.
    DIGITALOCEAN_TOKEN: 'chaos',
    DIGITALOCEAN_API_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: 'fatal',
  }
  const startWorker = () => startService(owner, { command: 'worker', env })
  const count = async (condition: string) => {
    const { rows } = await sql.query(`select count(*)::int as count from cloud_invoices where ${condition}`)
    return rows[0].count as number
  }
  const started = performance.now()
  const workers = await Promise.all(Array.from({ length: options.workers }, startWorker))
  let killed = 0
  for (let pushed = 0; pushed < invoices; ) {
    await pause(POLL_MS)
    pushed = await count('pushed_to_finance_at is not null')
    options.onProgress?.({ pushed, kills: killed })
    // Spread over the run, and always in the middle of pushes.
    if (killed < kills && pushed >= ((killed + 1) * invoices) / (kills + 2)) {
      killed++
      if (hurried) await replaceAll(sql, workers, startWorker)
      else await replace(workers, killed % workers.length, startWorker)
    }
    if (hurried)
      await sql.query(
        "update pgboss.job set start_after = now() where state = 'retry' and start_after > now()",
      )
  }
  const seconds = Math.round((performance.now() - started) / 100) / 10
  await Promise.all(workers.map(worker => worker.stop()))

  const rows = await sql.query(
    'select invoice_uuid, finance_invoice_id, finance_action, lines_hash = pushed_lines_hash as told from cloud_invoices',
  )
  const kept = new Map([...finance.invoices.values()].map(row => [row.external_id, row.id]))
  assert.equal(finance.invoices.size, invoices, 'finance has every invoice once')
  assert.equal(kept.size, invoices)
  for (const row of rows.rows) {
    assert.equal(row.finance_invoice_id, kept.get(row.invoice_uuid), 'the id recorded here is the one there')
    assert.equal(row.told, true)
  }
  const letters = await sql.query(
    "select count(*)::int as count from pgboss.job where name = 'dead_letters' and data->>'job' = 'push_invoice'",
  )
  const figures: ChaosFigures = {
    invoices,
    pushes: finance.pushes.length,
    answers_lost: finance.faults.list()[0]!.met,
    kills: killed,
    kept_by_finance: finance.invoices.size,
    ids_recorded: new Set(rows.rows.map(row => row.finance_invoice_id)).size,
    recorded_as_updated: rows.rows.filter(row => row.finance_action === 'updated').length,
    refused_tokens: finance.pushes.filter(push => push.status === 401 || push.status === 403).length,
    dead_letters: letters.rows[0].count,
    seconds,
  }
  assert.equal(figures.ids_recorded, invoices)
  assert.equal(figures.refused_tokens, 0)
  assert.equal(figures.dead_letters, 0)
  return figures
}

async function replace(workers: Service[], index: number, start: () => Promise<Service>): Promise<void> {
  await workers[index]!.kill()
  workers[index] = await start()
}

/** Once none lives, the jobs they held can be told to be long without a heartbeat. */
async function replaceAll(sql: pg.Client, workers: Service[], start: () => Promise<Service>): Promise<void> {
  await Promise.all(workers.map(worker => worker.kill()))
  await sql.query("update pgboss.job set heartbeat_on = now() - interval '1 hour' where state = 'active'")
  workers.splice(0, workers.length, ...(await Promise.all(workers.map(start))))
}

/** Three lines each, as the ingest leaves them. */
async function insertInvoices(sql: pg.Client, count: number): Promise<void> {
  await sql.query(
    `insert into cloud_invoices (id, provider, invoice_uuid, period, amount, currency, ingest_status, ingest_count,
       ingested_at, line_count, lines_amount, amount_net_minor, amount_tax_minor, reconciled, lines_hash, created_at, updated_at)
     select gen_random_uuid(), 'digitalocean', gen_random_uuid(), '2026-10-01', 12.75, 'USD', 'ingested', 1,
       now(), 3, 12.75, 1200, 75, true, encode(sha256(n::text::bytea), 'hex'), now(), now()
     from generate_series(1, $1) n`,
    [count],
  )
  await sql.query(
    `insert into cloud_cost_lines (id, invoice_id, period, line_number, product, description, kind, amount, amount_minor,
       currency, is_tax, tax_flagged)
     select gen_random_uuid(), i.id, i.period, n, 'Droplets', d.description, 'droplet', d.minor / 100.0, d.minor, 'USD', d.is_tax, false
     from cloud_invoices i cross join (values (1, 'web-01 (s-1vcpu-1gb)', 600, false), (2, 'web-02 (s-1vcpu-1gb)', 600, false),
       (3, 'STATE SALES TAX (6.25%)', 75, true)) d (n, description, minor, is_tax)`,
  )
}
