// What deployments are charged in a month: so far, and as the month may end. For whoever adds them up.
import type { Executor } from '../../kernel/db/tables.ts'
import type { TenantTime } from '../../kernel/tenant-time.ts'
import { monthAt } from './period.ts'
import { readFacts } from './read-usage.ts'
import { usageStatement } from './usage.ts'

export interface Charge {
  currency: string
  total_cents: bigint
  forecast_cents: bigint
}

/** By deployment, in a handful of queries; `month` is any day of it. */
export async function chargesOf(
  db: Executor,
  { time, now }: { time: TenantTime; now: Date },
  month: string,
  deploymentIds: string[],
): Promise<Map<string, Charge>> {
  if (deploymentIds.length === 0) return new Map()
  const { facts } = await readFacts(db, now, monthAt(month, now), deploymentIds, { time, forecast: true })
  return new Map([...facts].map(([id, own]) => [id, usageStatement(own)]))
}
