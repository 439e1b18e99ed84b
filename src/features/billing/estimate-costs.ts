// Estimates the running month: every resource at its list price for as long as it has lived in the month, and what the
// provider says the month has cost beyond that. What was said last on each day is kept.
import type { Deps } from '../../deps.ts'
import { LIST_PRICES, listPriceOf } from '../../integrations/digitalocean/index.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { type Month, monthOf } from '../../kernel/time.ts'
import { type LivedStretch, listStretches } from '../inventory/index.ts'
import {
  type Accrued,
  accrue,
  centsOf,
  decimalText,
  hourlyOf,
  millionths,
  percentOff,
  type Stretch,
} from './estimate.ts'
import {
  clearLines,
  type EstimateLineRow,
  findEstimate,
  insertLines,
  upsertEstimate,
} from './estimate-store.ts'
import { latestBalance } from './invoice-store.ts'

/** The provider charges in this one, and names none for its list prices. */
const CURRENCY = 'USD'
/** Those that have list prices, as far as it is not their plan that is priced. */
const KINDS = [
  ...['droplet', 'volume', 'snapshot', 'image', 'load_balancer', 'reserved_ip'],
  ...['kubernetes_cluster', 'registry'],
]
const AT_A_TIME = 2_000

export const costEstimate = (deps: Deps): Task => ({
  name: 'cost_estimate',
  description:
    'Estimates what the month has cost so far and will cost, by list prices and the provider’s usage.',
  queue: 'cloud_billing',
  ownQueue: true,
  cron: '12 * * * *',
  async run({ signal, log }) {
    const said = await estimateMonth(deps, signal)
    log.info(said, 'costs estimated')
  },
})

interface Sums {
  listed: bigint
  month: bigint
}

export async function estimateMonth({ db, clock }: Deps, signal?: AbortSignal) {
  const now = clock.now().toISOString()
  const month = monthOf(now)
  const twoBefore = monthOf(new Date(Date.parse(month.start_at) - 32 * 86_400_000)).first_day
  return transaction(db, async tx => {
    const usage = await usageOf(tx, month, now)
    const as_of = usage?.as_of ?? now
    await clearLines(tx, month.first_day, twoBefore)
    const sums = await writeResources(tx, month, as_of, signal)
    const rest = await writeRest(tx, month, as_of, usage && { ...usage, ...sums })
    const said = {
      listed_minor: Number(sums.listed),
      amount_minor: Number(sums.listed + rest.amount),
      month_minor: Number(sums.month + rest.month),
    }
    await upsertEstimate(tx, {
      ...{
        id: newId(),
        period: month.first_day,
        day: now.slice(0, 10),
        made_at: now,
        as_of,
        currency: CURRENCY,
      },
      ...{ usage_amount: usage?.amount ?? null, ...said },
    })
    return said
  })
}

/** What the provider last said that this month has cost, if it has. */
async function usageOf(tx: Executor, month: Month, now: string) {
  const balance = await latestBalance(tx)
  if (!balance) return undefined
  const said = new Date(balance.generated_at).toISOString()
  // A clock of the provider's that is ahead must not make resources live longer than they have.
  const as_of = said < now ? said : now
  if (as_of <= month.start_at || said >= month.end_at) return undefined
  return { as_of, amount: balance.month_to_date_usage }
}

/** The lines of every resource; what they add up to. */
async function writeResources(tx: Executor, month: Month, asOf: string, signal?: AbortSignal): Promise<Sums> {
  const sums = { listed: 0n, month: 0n }
  let waiting: LivedStretch[] = []
  for (let after: [string, string] | null = null; ; ) {
    signal?.throwIfAborted()
    const read: LivedStretch[] = await listStretches(tx, KINDS, [month.start_at, asOf], AT_A_TIME, after)
    const last = read.at(-1)
    const isLast = read.length < AT_A_TIME
    waiting.push(...read)
    // The last resource may have more stretches in the next batch.
    const whole = isLast ? waiting : waiting.filter(({ resource_id }) => resource_id !== last?.resource_id)
    waiting = isLast ? [] : waiting.filter(({ resource_id }) => resource_id === last?.resource_id)
    const lines = [...Map.groupBy(whole, ({ resource_id }) => resource_id).values()].flatMap(stretches =>
      linesOf(stretches, month),
    )
    await insertLines(tx, lines)
    for (const { amount_minor, month_minor } of lines) {
      sums.listed += BigInt(amount_minor)
      sums.month += BigInt(month_minor)
    }
    if (isLast || !last) return sums
    after = [last.resource_id, last.valid_from]
  }
}

/**
 * The lines of one resource, one for each thing that is priced, as an invoice has them: for whom it was when it ended,
 * whoever had it before. What has no list price has none.
 */
function linesOf(lived: LivedStretch[], month: Month): Omit<EstimateLineRow, 'id'>[] {
  const priced = fromBirth(lived, month.start_at).flatMap(stretch => {
    const found = priceOf(stretch)
    return found ? [{ ...stretch, ...found }] : []
  })
  const costs = accrue(priced, month.end_at)
  const costly = priced.map((stretch, index) => ({ ...stretch, cost: costs[index] as Accrued }))
  return [...Map.groupBy(costly, ({ sku, quantity }) => `${sku} ${quantity}`).values()].map(stretches => {
    const last = stretches.at(-1)!
    const sum = (of: keyof Accrued) => stretches.reduce((all, { cost }) => all + cost[of], 0n)
    const [amount, whole] = [sum('amount'), sum('month')]
    return {
      ...{ period: month.first_day, kind: last.kind, name: last.name, resource_id: last.resource_id },
      ...{ deployment_id: last.deployment_id, tenant_id: last.tenant_id, project_name: last.project_name },
      ...{ sku: last.sku, quantity: last.quantity, price_monthly: last.price_monthly },
      ...{ start_at: stretches[0]!.from_at, end_at: last.to_at, amount: decimalText(amount) },
      ...{ amount_minor: Number(centsOf(amount)), month_minor: Number(centsOf(whole)), currency: CURRENCY },
    }
  })
}

/** What is seen for the first time in the middle of a month, as everything is on the first day, has cost since it was made. */
function fromBirth([first, ...others]: LivedStretch[], monthStart: string): LivedStretch[] {
  if (!first) return []
  const made = new Date(String(first.attrs.created_at)).getTime()
  const isOlder = first.first && made < Date.parse(first.from_at)
  if (!isOlder) return [first, ...others]
  return [{ ...first, from_at: new Date(Math.max(made, Date.parse(monthStart))).toISOString() }, ...others]
}

type Price = Pick<Stretch, 'sku' | 'quantity' | 'price_monthly' | 'price_hourly'>

function priceOf({ kind, name, attrs, price_monthly, price_hourly }: LivedStretch): Price | null {
  if (kind === 'droplet')
    return price_monthly !== null && price_hourly !== null
      ? { sku: String(attrs.size_slug), quantity: '1', price_monthly, price_hourly }
      : null
  const priced = listPriceOf(kind, attrs, name)
  if (!priced) return null
  const monthly = LIST_PRICES[priced.sku]
  return { ...priced, price_monthly: monthly, price_hourly: hourlyOf(monthly) }
}

/**
 * What the provider has counted beyond the list prices (transfer, backups, databases, discounts) is nobody's. By the month's
 * end it is as much more as the month is longer.
 */
async function writeRest(
  tx: Executor,
  month: Month,
  asOf: string,
  usage: (Sums & { amount: string }) | undefined,
): Promise<{ amount: bigint; month: bigint }> {
  if (!usage) return { amount: 0n, month: 0n }
  const sign = usage.amount.startsWith('-') ? -1n : 1n
  const used = sign * millionths(usage.amount.replace('-', ''), '1')
  const amount = centsOf(used) - usage.listed
  const [elapsed, length] = [asOf, month.end_at].map(end =>
    BigInt(Date.parse(end) - Date.parse(month.start_at)),
  )
  const whole = (amount * length!) / elapsed!
  await insertLines(tx, [
    {
      ...{ period: month.first_day, kind: 'other', name: null, resource_id: null, deployment_id: null },
      ...{ tenant_id: null, project_name: null, sku: null, quantity: null, price_monthly: null },
      ...{ start_at: month.start_at, end_at: asOf, currency: CURRENCY },
      ...{ amount: decimalText(amount * 10_000n), amount_minor: Number(amount), month_minor: Number(whole) },
    },
  ])
  return { amount, month: whole }
}

/** The running month's estimate, and how far that of the month before was off. */
export async function showEstimate({ db, clock }: Pick<Deps, 'db' | 'clock'>, scope: Scope) {
  const { first_day } = monthOf(clock.now())
  const found = await findEstimate(db, scope, first_day, 'of')
  if (!found) return null
  const { invoiced_minor: _, ...said } = found
  const before = await findEstimate(db, scope, first_day, 'before')
  if (!before || before.invoiced_minor === null) return { ...said, previous: null }
  const off_minor = before.month_minor - before.invoiced_minor
  return {
    ...said,
    previous: { ...before, off_minor, off_percent: percentOff(off_minor, before.invoiced_minor) },
  }
}
