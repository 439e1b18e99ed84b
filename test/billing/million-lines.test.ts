// Books of a million lines, written to be awkward: by no grouping and over no time is a cent missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { haveResource } from '../support/billing.ts'
import { csvObjects } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'

const LINES = 1_000_000
/** The first has fewer, for what is asked about it most often. */
const MONTHS = Array.from({ length: 12 }, (_, n) => {
  const month = new Date(Date.UTC(2025, 10 + n)).toISOString().slice(0, 10)
  return [month, n === 0 ? 10_000 : (LINES - 10_000) / 11] as const
})
const CURRENCIES = ['USD', 'EUR', 'JPY']
const DIMENSIONS = ['tenant', 'deployment', 'kind', 'project', 'tag']

const EACH = DIMENSIONS.map(name => [name])
/** Every set of dimensions. */
const GROUPINGS = Array.from({ length: 2 ** DIMENSIONS.length }, (_, set) =>
  DIMENSIONS.filter((_, index) => (set >> index) % 2 === 1),
)

/**
 * Lines of droplets named `taxi` and `Taxes`, taxes that no word gives away, tagged and untagged, of several tenants and of
 * nobody, refunds, fractions of cents, and times that begin and end anywhere, also outside their month or nowhere.
 */
async function haveBooks(bundle: Bundle) {
  const { ctx } = bundle
  const apps = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')].map(({ id }) => id)
  const resources: string[] = []
  for (const [name, tags] of Object.entries({
    taxi: ['env:prod', 'web'],
    Taxes: ['env:test'],
    GST: ['taxi'],
    vat: [],
  }))
    resources.push(await haveResource(bundle, { name, tags, tenant: 'acme' }))
  await sql`
    insert into cloud_invoices (id, provider, invoice_uuid, period, amount, currency, created_at, updated_at)
    select uuid_v7(), 'digitalocean', m || c, m::date, 0, c, now(), now()
    from unnest(${MONTHS.map(([month]) => month)}::text[]) m, unnest(${CURRENCIES}::text[]) c`.execute(ctx.db)
  // Written with all its indexes a million lines would take several times as long.
  const { rows: indexes } = await sql<{ name: string }>`
    select indexname as name from pg_indexes where tablename = 'cloud_cost_lines'
      and indexname not in ('cloud_cost_lines_pkey', 'cloud_cost_lines_period')`.execute(ctx.db)
  for (const { name } of indexes) await sql`drop index ${sql.id(name)}`.execute(ctx.db)
  for (const [month, lines] of MONTHS) await insertLines(bundle, month, lines, apps, resources)
  await sql`
    update cloud_invoices i set ingest_status = 'ingested', ingested_at = now(), lines_hash = repeat('0', 64),
      line_count = s.lines, lines_amount = s.amount, amount = s.amount, amount_net_minor = s.minor - s.tax, amount_tax_minor = s.tax
    from (
      select invoice_id, count(*) as lines, sum(amount) as amount, sum(amount_minor) as minor,
        coalesce(sum(amount_minor) filter (where is_tax), 0) as tax
      from cloud_cost_lines group by invoice_id) s
    where i.id = s.invoice_id`.execute(ctx.db)
  await sql`analyze cloud_cost_lines`.execute(ctx.db)
}

const insertLines = ({ ctx }: Bundle, month: string, lines: number, apps: string[], resources: string[]) =>
  sql`
    insert into cloud_cost_lines (id, invoice_id, period, line_number, product, description, kind, name, start_at, end_at,
      amount, amount_minor, currency, project_name, is_tax, tax_flagged, resource_id, deployment_id, tenant_id, matched_by)
    select (left(md5(${month}), 8) || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, i.id, i.period, n,
      case when tax then 'Taxes' else 'Droplets' end,
      (array['taxi (s-1vcpu-1gb)', 'Taxes (s-1vcpu-1gb)', 'GST', 'a, "b"; c', 'surcharge'])[1 + n % 5],
      case when tax then 'tax' else (array['droplet', 'volume', 'other', 'Taxes'])[1 + n % 4] end,
      (array['taxi', 'Taxes', 'tax', null])[1 + n % 4],
      case when n % 7 > 0 then i.period + (n % 43 - 4) * interval '1 day' + (n % 86399) * interval '1 second' end,
      case when n % 7 > 1 then i.period + (n % 41 - 3) * interval '1 day' + (n % 13) * interval '7919.003 seconds' end,
      a.amount, round(a.amount * 100), i.currency, (array['taxi', null, 'Taxes', '=1+1', ''])[1 + n % 5],
      tax, n % 5 = 0, case when not tax then (${resources}::uuid[])[1 + n % 5] end,
      case when n % 6 < 2 then (${apps}::uuid[])[1 + n % 6] end,
      (array['acme', 'globex', null, 'taxi', 'nobody', null])[1 + n % 6],
      case when n % 6 in (2, 5) then null when n % 2 = 0 then 'auto' else 'hand' end
    from generate_series(1, ${lines}::int) n
    cross join lateral (select n % 11 = 0 as tax, (array[1, 1, 1, 1, 1, 1, 1, 2, 2, 3])[1 + n % 10] as currency) t
    cross join lateral (select ((n % 2003 - 400) * 0.0137 + (n % 3) * 0.005)::numeric as amount) a
    join cloud_invoices i on i.invoice_uuid = ${month} || (${CURRENCIES}::text[])[t.currency]`.execute(ctx.db)

/** By currency: what the rows add up to, or the invoices of these months. */
type Sums = Record<string, [amount: bigint, minor: bigint, tax: bigint]>

function addedUp(rows: { currency: string; amount: string; minor: string; tax: string }[]): Sums {
  const sums: Sums = {}
  for (const { currency, amount, minor, tax } of rows) {
    const [amounts, minors, taxes] = sums[currency] ?? [0n, 0n, 0n]
    sums[currency] = [amounts + millionths(amount), minors + BigInt(minor), taxes + BigInt(tax)]
  }
  return sums
}

const millionths = (amount: string): bigint => {
  const [, sign, whole, part = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(amount)!
  return BigInt(`${sign}${whole}${part.padEnd(6, '0')}`)
}

test(
  'of a million lines not a cent is missing, by any grouping, by month and by day',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    await haveBooks(bundle)
    const invoiced = async (from: string, to: string) => {
      const { rows } = await sql<{ currency: string; amount: string; minor: string; tax: string }>`
      select currency, sum(lines_amount)::text as amount, sum(amount_net_minor + amount_tax_minor)::text as minor,
        sum(amount_tax_minor)::text as tax
      from cloud_invoices where period between ${from} and ${to} group by currency`.execute(bundle.ctx.db)
      return addedUp(rows)
    }
    const told = async (query: string) => {
      const answer = await bundle.call('GET', `/api/v1/billing/costs?${query}&format=csv`)
      assert.equal(answer.status, 200, answer.text.slice(0, 500))
      const rows = csvObjects(answer.text) as Record<string, string>[]
      return addedUp(
        rows.map(row => ({
          currency: row.currency!,
          amount: row.amount!,
          minor: row.amount_minor!,
          tax: row.tax_minor!,
        })),
      )
    }
    for (const [from, to, granularity, groupings] of [
      ['2025-11-01', '2025-11-30', 'month', GROUPINGS],
      ['2025-11-01', '2025-11-30', 'day', GROUPINGS],
      ['2025-11-01', '2026-10-31', 'month', [[], ...EACH, DIMENSIONS]],
      ['2026-10-01', '2026-10-31', 'day', [[], ...EACH]],
    ] as const)
      for (const grouping of groupings) {
        const group = grouping.length > 0 ? `&group_by=${grouping}` : ''
        const query = `from=${from}&to=${to}&granularity=${granularity}${group}`
        assert.deepEqual(await told(query), await invoiced(from, to), query)
      }
    // A droplet named `taxi` is in the margins as everything else is.
    for (const by of ['tenant', 'deployment']) {
      const { body } = await bundle.call('GET', `/api/v1/billing/margins?period=2025-11&by=${by}&limit=500`)
      assert.equal(body.next_cursor, null)
      type Costs = { currency: string; amount: string; amount_minor: number; tax_minor: number }[]
      const costs: Costs = [...body.data.flatMap((row: { costs: Costs }) => row.costs), ...body.unassigned]
      const sums = costs.map(({ currency, amount, amount_minor, tax_minor }) => ({
        ...{ currency, amount, minor: String(amount_minor), tax: String(tax_minor) },
      }))
      assert.deepEqual(addedUp(sums), await invoiced('2025-11-01', '2025-11-30'), by)
    }
  },
)
