// A deployment's usage in a month, for its tenant and for a platform_admin.
import type { Deps } from '../../deps.ts'
import { notFound } from '../../kernel/errors.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { listBilled } from '../deployments/index.ts'
import { monthOfQuery } from './period.ts'
import { readUsage } from './read-usage.ts'

export async function showUsage({ db, clock }: Deps, scope: Scope, id: string, period?: string) {
  const now = clock.now()
  const month = monthOfQuery(period, now)
  const [deployment] = await listBilled(db, scope, { id }, 1, null)
  if (!deployment) throw notFound()
  const { metered_until, statements } = await readUsage(db, now, month, [deployment], { forecast: true })
  return {
    deployment_id: id,
    tenant_id: deployment.tenant_id,
    period: month.period,
    period_start: month.first_day,
    period_end: month.last_day,
    metered_until,
    ...statements.get(id)!,
  }
}
