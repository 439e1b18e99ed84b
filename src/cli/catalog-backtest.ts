// cloudops catalog backtest FILE [--months N] [--json | --csv]: a table for people, JSON or CSV for machines
import type { Catalog } from '../features/catalog/index.ts'
import { csvLine } from '../kernel/http/csv.ts'
import { type Arguments, paint, print, table, text, usageError } from './command.ts'
import { serviceClient } from './service-client.ts'

interface Amounts {
  before_cents: number
  after_cents: number
  difference_cents: number
}

interface Kept {
  subject: string
  code: string
  reason: 'missing' | 'currency_differs'
}

interface Page {
  subscriptions: {
    tenant_id: string
    months: (Amounts & { period: string; currency: string })[]
    kept: Kept[]
  }[]
  next_cursor: string | null
}

/** A tenant's sum in a month. */
interface TenantMonth extends Amounts {
  tenant_id: string
  period: string
  currency: string
}

interface Form {
  months: number
  as: 'table' | 'json' | 'csv'
}

export function formOf(options: Arguments['options']): Form {
  const months = text(options, 'months') ?? '6'
  if (!/^[1-9]\d?$/.test(months)) throw usageError('--months takes a number of months')
  if (options.json && options.csv) throw usageError('--json and --csv do not go together')
  return { months: Number(months), as: options.json ? 'json' : options.csv ? 'csv' : 'table' }
}

const SUBSCRIPTIONS = 500

export async function backtestCatalog(catalog: Catalog, { months, as }: Form): Promise<void> {
  const client = await serviceClient()
  const sums = new Map<string, TenantMonth>()
  const kept = new Map<string, Kept & { subscriptions: number }>()
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const body: object = { catalog, months, limit: SUBSCRIPTIONS, ...(cursor && { cursor }) }
    const { data } = await client.post<{ data: Page }>('/api/v1/catalog/backtest', body)
    for (const subscription of data.subscriptions) {
      for (const month of subscription.months) add(sums, { tenant_id: subscription.tenant_id, ...month })
      for (const item of subscription.kept) {
        const key = `${item.subject} ${item.code} ${item.reason}`
        kept.set(key, { ...item, subscriptions: (kept.get(key)?.subscriptions ?? 0) + 1 })
      }
    }
    cursor = data.next_cursor
  }
  const rows = [...sums.values()].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  if (as === 'csv') return printCsv(rows)
  const tenants = byTenant(rows)
  if (as === 'json')
    return print(JSON.stringify({ tenants, months: rows, kept: [...kept.values()] }, null, 2))
  printTable(tenants, [...kept.values()])
}

const sortKey = ({ tenant_id, currency, period }: TenantMonth) => `${tenant_id}\0${currency}\0${period}`

function add(sums: Map<string, TenantMonth>, month: TenantMonth): void {
  const sum = sums.get(sortKey(month))
  sums.set(sortKey(month), sum ? { ...sum, ...added(sum, month) } : month)
}

const added = (a: Amounts, b: Amounts): Amounts => ({
  before_cents: a.before_cents + b.before_cents,
  after_cents: a.after_cents + b.after_cents,
  difference_cents: a.difference_cents + b.difference_cents,
})

type Sum = Omit<TenantMonth, 'period'>

/** Each currency by itself. */
function byTenant(rows: readonly TenantMonth[]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { period: _, ...row } of rows) {
    const key = `${row.tenant_id}\0${row.currency}`
    const sum = sums.get(key)
    sums.set(key, sum ? { ...sum, ...added(sum, row) } : row)
  }
  return [...sums.values()]
}

const COLUMNS = [
  'tenant_id',
  'period',
  'currency',
  'before_cents',
  'after_cents',
  'difference_cents',
] as const

function printCsv(rows: readonly TenantMonth[]): void {
  process.stdout.write(csvLine(COLUMNS))
  for (const row of rows) process.stdout.write(csvLine(COLUMNS.map(column => row[column])))
}

function printTable(tenants: readonly Sum[], kept: readonly (Kept & { subscriptions: number })[]): void {
  const header = ['TENANT', 'CURRENCY', 'BEFORE', 'AFTER', 'DIFFERENCE']
  const cells = (name: string, { currency, ...sum }: Omit<Sum, 'tenant_id'>) => [
    name,
    currency,
    ...[sum.before_cents, sum.after_cents].map(money),
    signed(sum.difference_cents),
  ]
  const totals = byTenant(tenants.map(sum => ({ ...sum, tenant_id: 'all', period: '' })))
  const rows = [...tenants, ...(tenants.length > 1 ? totals : [])]
  print(
    table(
      header,
      rows.map(({ tenant_id, ...sum }) => cells(tenant_id, sum)),
    ),
  )
  if (tenants.length === 0) print('No month that is over has a subscription.')
  for (const { subject, code, reason, subscriptions } of kept) {
    const why = reason === 'missing' ? 'is not in the file' : 'is in another currency in the file'
    const whose = `${subscriptions} ${subscriptions === 1 ? 'subscription' : 'subscriptions'}`
    print(paint('yellow', `The ${subject} ${code} ${why}: ${whose} of it counted as it was.`))
  }
}

/** Minor units as hundredths, as the console shows them. */
function money(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

const signed = (cents: number): string => (cents > 0 ? `+${money(cents)}` : money(cents))
