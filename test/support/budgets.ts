// Budgets in tests: making them, looking at them, and what was told.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { lookAtBudgets } from '../../src/features/budgets/look.ts'
import { deployment, plan } from './factories.ts'
import type { Bundle } from './setup.ts'
import { jobPart } from './sweep.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers
type Any = any

export async function budget({ call }: Bundle, fields: object, token?: string): Promise<Any> {
  const body = { name: 'Spending', amount_minor: 10_000, ...fields }
  const { status, body: answer, text } = await call('POST', '/api/v1/budgets', { body, token })
  assert.equal(status, 201, text)
  return answer.data
}

export async function show({ call }: Bundle, id: string): Promise<Any> {
  const { status, body, text } = await call('GET', `/api/v1/budgets/${id}`)
  assert.equal(status, 200, text)
  return body.data
}

/** Looks at all budgets; how many thresholds were told. */
export const look = ({ ctx }: Bundle): Promise<number> => lookAtBudgets(ctx, jobPart())

/** A webhook of the platform that hears of everything. */
export async function listen({ call }: Bundle): Promise<void> {
  const body = { url: 'https://hooks.example.com/x', events: ['budget.*', 'cost.*'] }
  const { status, text } = await call('POST', '/api/v1/admin/webhooks', { body })
  assert.equal(status, 201, text)
}

/** What webhooks were told, in order. */
export async function told({
  ctx,
}: Bundle): Promise<{ type: string; tenant_id: string | null; data: Any }[]> {
  const { rows } = await sql<{ type: string; tenant_id: string | null; data: Any }>`
    select type, tenant_id, data from webhook_events order by id`.execute(ctx.db)
  return rows
}

/** A deployment with a plan of so many cents a month since the month's beginning; its id. */
export async function charged(
  bundle: Bundle,
  cents: number,
  { tenant = 'acme', currency = 'USD', items = [] as object[], since = '2026-11-01T00:00:00Z' } = {},
): Promise<string> {
  const now = bundle.clock.now().toISOString()
  bundle.clock.set(since)
  const { id } = await deployment(bundle, tenant)
  const plan_code = await plan(bundle, { price: cents, currency, items })
  const { status, text } = await bundle.call('POST', `/api/v1/deployments/${id}/subscribe`, {
    body: { plan_code },
  })
  assert.equal(status, 201, text)
  bundle.clock.set(now)
  return id
}

/** What the provider said at a time: its usage of the month so far. */
export async function balanceAt({ ctx }: Bundle, at: string, usage: string): Promise<void> {
  await sql`insert into cloud_balance_snapshots (id, provider, month_to_date_balance, account_balance, month_to_date_usage,
      currency, generated_at, recorded_at)
    values (uuid_v7(), 'digitalocean', ${usage}, 0, ${usage}, 'USD', ${at}, ${at})`.execute(ctx.db)
}
