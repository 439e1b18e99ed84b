// A budget for the shop is made, looked at and changed; its threshold is reached. A day costs more than its weekday usually does.
import { sql } from 'kysely'
import { MOST_OF_ONE_TENANT } from '../../src/features/budgets/actions.ts'
import { runTask } from '../../test/support/billing.ts'
import type { Shop } from './deploy.ts'
import type { Teller } from './recorder.ts'

export async function budget(told: Teller, { deploymentId }: Shop): Promise<void> {
  const { tell, ctx, clock, tokens } = told
  const base = '/api/v1/budgets'
  const thresholds = [
    { percent: 80, on: 'actual' },
    { percent: 100, on: 'forecast' },
  ]
  const terms = { amount_minor: 3000, currency: 'USD', thresholds }
  const wish = { name: 'The shop', deployment_id: deploymentId, ...terms }
  const { body: made } = await tell(201, 'POST', base, { body: wish })
  const path = `${base}/${made.data.id}`
  await runTask(told, 'budgets')
  await tell(200, 'GET', base)
  await tell(200, 'GET', path)
  await tell(200, 'GET', `${path}/alerts`)
  await tell(200, 'PATCH', path, { body: { amount_minor: 5000 } })

  // What the provider would have said: 20.00 a day, and yesterday 80.00 more.
  const today = clock.now().toISOString().slice(0, 10)
  await sql`insert into cloud_balance_snapshots (id, provider, month_to_date_balance, account_balance, month_to_date_usage,
      currency, generated_at, recorded_at)
    select uuid_v7(), 'digitalocean', 0, 0, extract(day from d) * 20 + case when d >= ${today}::date - 1 then 80 else 0 end,
      'USD', at, at
    from generate_series(${today}::date - 70, ${today}::date - 1, interval '1 day') d,
      lateral (select (d + interval '23 hours') at time zone 'UTC' as at) t`.execute(ctx.db)
  await runTask(told, 'unusual_days')
  await tell(200, 'GET', `${base}/unusual-days`)

  await sql`insert into budgets (id, name, tenant_id, measure, amount_minor, currency, thresholds, created_by, created_at, updated_at)
    select uuid_v7(), name, tenant_id, measure, amount_minor, currency, thresholds, created_by, created_at, updated_at
    from budgets, generate_series(1, ${MOST_OF_ONE_TENANT}::int)`.execute(ctx.db)
  const token = await tokens.tenant('acme')
  await tell('budget_limit', 'POST', base, { body: { name: 'One more', amount_minor: 1000 }, token })
  await tell(204, 'DELETE', path)
}
