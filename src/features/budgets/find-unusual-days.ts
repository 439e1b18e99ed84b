// Finds the days that were unlike others of their weekday: of the account by the provider's balance, of each tenant by what it was
// charged. All deployments are read in batches, and of those days alone.
import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { newId } from '../../kernel/ids.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { findNamed, listBilled } from '../deployments/index.ts'
import { dailyCharges, meteredSpan } from '../metering/index.ts'
import {
  addDays,
  type Contributor,
  daysToJudge,
  grewOn,
  judge,
  linesOf,
  sameWeekdays,
  WEEKS,
} from './unusual-day.ts'
import { balancesByDay, costsByDay, type NewUnusualDay, tellUnusualDays } from './unusual-store.ts'

/** How many were told. */
export async function findUnusualDays(
  { db, clock, tenantTime: time }: Pick<Deps, 'db' | 'clock' | 'tenantTime'>,
  { signal, log }: { signal: AbortSignal; log: Logger },
): Promise<number> {
  const now = clock.now()
  const days = daysToJudge(now)
  const found = [...(await ofAccount(db, days)), ...(await ofTenants(db, { time, now }, days, signal))]
  if (signal.aborted) return 0
  const told = await transaction(db, tx => tellUnusualDays(tx, found, now.toISOString()))
  log.info({ days, told }, 'unusual days looked for')
  return told
}

/** A day's amount against those of its weekdays; null: it is not unusual, or nobody can tell. */
function unusual(
  amount: bigint,
  before: readonly bigint[],
  of: Pick<NewUnusualDay, 'tenant_id' | 'day' | 'measure' | 'currency'>,
): Omit<NewUnusualDay, 'lines'> | null {
  const judged = judge(before)
  if (judged === null || amount <= judged.limit) return null
  return { id: newId(), ...of, amount_minor: amount, usual_minor: judged.usual, limit_minor: judged.limit }
}

async function ofAccount(db: Executor, days: readonly string[]): Promise<NewUnusualDay[]> {
  const from = addDays(days[0]!, -7 * WEEKS - 1)
  const balances = await balancesByDay(db, from, addDays(days.at(-1)!, 1))
  const found: NewUnusualDay[] = []
  for (const [currency, own] of Map.groupBy(balances, balance => balance.currency)) {
    const known = new Map(own.map(({ day, minor }) => [day, BigInt(minor)]))
    for (const day of days) {
      const amount = grewOn(day, known)
      const weekdays = sameWeekdays(day).filter(other => grewOn(other, known) !== undefined)
      if (amount === undefined) continue
      const before = weekdays.map(other => grewOn(other, known)!)
      const one = unusual(amount, before, { tenant_id: null, day, measure: 'cost', currency })
      if (one) found.push({ ...one, lines: await estimatedLines(db, day, weekdays, currency) })
    }
  }
  return found
}

async function estimatedLines(db: Executor, day: string, before: readonly string[], currency: string) {
  const costs = await costsByDay(db, [day, ...before], currency)
  const byWhat = Map.groupBy(costs, cost => `${cost.kind} ${cost.tenant_id} ${cost.deployment_id}`)
  const contributors = [...byWhat.values()].map(([first, ...others]): Contributor => {
    const { tenant_id, deployment_id, kind } = first!
    const amounts = new Map([first!, ...others].map(cost => [cost.day, BigInt(cost.minor)]))
    return { tenant_id, deployment_id, kind, amounts }
  })
  return linesOf(contributors, day, before)
}

const ALL = { allTenants: true } as const
const BATCH = 500

/** What a tenant was charged by the day, in one currency. */
interface Books {
  tenant_id: string
  currency: string
  contributors: Contributor[]
}

interface AllBooks {
  books: Books[]
  /** When each tenant's first deployment was made: of earlier days nothing is known. */
  since: Map<string, string>
}

async function ofTenants(
  db: Executor,
  at: { time: TenantTime; now: Date },
  days: readonly string[],
  signal: AbortSignal,
): Promise<NewUnusualDay[]> {
  const metered = await meteredSpan(db)
  if (metered === null) return []
  const judged = days.filter(day => startOf(addDays(day, 1)) <= metered.until)
  if (judged.length === 0) return []
  const { books, since } = await readBooks(db, at, judged, signal)
  return books.flatMap(({ tenant_id, currency, contributors }) => {
    const begun = since.get(tenant_id)! > metered.from ? since.get(tenant_id)! : metered.from
    const on = (day: string) => contributors.reduce((sum, { amounts }) => sum + (amounts.get(day) ?? 0n), 0n)
    return judged.flatMap(day => {
      const weekdays = sameWeekdays(day).filter(other => startOf(other) >= begun)
      const one = unusual(on(day), weekdays.map(on), { tenant_id, day, measure: 'charge', currency })
      return one ? [{ ...one, lines: linesOf(contributors, day, weekdays) }] : []
    })
  })
}

/** A tenant under a test clock has no days of the service's. */
async function readBooks(
  db: Executor,
  at: { time: TenantTime; now: Date },
  judged: readonly string[],
  signal: AbortSignal,
): Promise<AllBooks> {
  const days = [...new Set(judged.flatMap(day => [day, ...sameWeekdays(day)]))].sort()
  const since = new Map<string, string>()
  const books = new Map<string, Books>()
  for (let after: string | null = null; !signal.aborted; ) {
    const page = await listBilled(db, ALL, {}, BATCH, after)
    const listed = page.map(({ id }) => id)
    const apart = await at.time.apart(db, listed)
    const ids = listed.filter(id => !apart.has(id))
    const tenants = new Map<string, string>()
    for (const { id, tenant_id, created_at } of await findNamed(db, ALL, ids)) {
      tenants.set(id, tenant_id)
      if (!since.has(tenant_id) || created_at < since.get(tenant_id)!) since.set(tenant_id, created_at)
    }
    const rows = await dailyCharges(db, at, days, ids)
    for (const own of Map.groupBy(rows, row => `${row.deployment_id} ${row.kind} ${row.currency}`).values()) {
      const { deployment_id, kind, currency } = own[0]!
      const tenant_id = tenants.get(deployment_id)!
      const amounts = new Map(own.map(({ day, amount_cents }) => [day, amount_cents]))
      const key = `${currency} ${tenant_id}`
      if (!books.has(key)) books.set(key, { tenant_id, currency, contributors: [] })
      books.get(key)!.contributors.push({ tenant_id, deployment_id, kind, amounts })
    }
    if (page.length < BATCH) break
    after = page.at(-1)!.id
  }
  return { books: [...books.values()], since }
}

const startOf = (day: string): string => `${day}T00:00:00.000Z`
