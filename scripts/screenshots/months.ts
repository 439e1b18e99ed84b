// Months that are over, for the pictures: a customer who moved in with a history, its usage events and its statements; and what
// is scheduled for the shop.
import { runTask } from '../../test/support/billing.ts'
import type { Bundle } from '../../test/support/setup.ts'

const DAY_MS = 86_400_000
/** Whatever the day, one month at least is closed. */
const DAYS = 75
const base = '/api/v1/deployments'
const KINDS = ['droplet', 'database', 'volume', 'load_balancer']

/** At the time of the move; the deployment's id. */
export async function moveIn({ call, clock }: Bundle): Promise<string> {
  const from = new Date(clock.now().getTime() - DAYS * DAY_MS).toISOString()
  const order = { tenant_id: 'acme', slug: 'wiki', display_name: 'The wiki', created_at: from }
  const id: string = (await call('POST', base, { body: order })).body.data.id
  const addons = ['seat-pack', { code: 'token-pack', quantity: 2 }]
  await call('POST', `${base}/${id}/subscribe`, {
    body: { plan_code: 'growth', addons, effective_from: from },
  })
  // What it has lived on all the time, and no tag names.
  const { body } = await call('GET', '/api/v1/inventory?tenant_id=acme&limit=500')
  for (const { id: resource, kind } of body.data as { id: string; kind: string }[])
    if (KINDS.includes(kind))
      await call('PATCH', `/api/v1/inventory/${resource}`, { body: { deployment_id: id } })
  return id
}

/** Tokens of every day, more of them each, and people who come and go. */
export async function use({ call, clock }: Bundle, wiki: string, shop: string): Promise<void> {
  const now = clock.now().getTime()
  const event = (subject: string, type: string, day: number, value: number) => ({
    ...{ specversion: '1.0', source: '/gateway/fra1', id: `${subject} ${type} ${day}`, type, subject },
    ...{ time: new Date(now - day * DAY_MS).toISOString(), data: { value } },
  })
  const days = Array.from({ length: DAYS }, (_, day) => day)
  const events = [
    ...days.map(day => event(wiki, 'llm_tokens', day, 1_400_000 - 9_000 * day)),
    ...days.map(day => event(wiki, 'seats', day, 24 + ((day * 7) % 5))),
    ...days.slice(0, 11).map(day => event(shop, 'llm_tokens', day, 420_000)),
  ]
  await call('POST', '/api/v1/usage-events', { body: events })
}

/** Everything that is over is metered, a month in a run, and then closed. */
export async function close(bundle: Bundle, shop: string): Promise<void> {
  for (let days = 0; days <= DAYS + 31; days += 31) await runTask(bundle, 'metering')
  const path = `${base}/${shop}`
  const growth = { plan_code: 'growth', effective_from: 'next_period' }
  await bundle.call('POST', `${path}/change-plan-version`, { body: growth })
  const tokens = { code: 'token-pack', effective_from: 'next_period' }
  await bundle.call('POST', `${path}/addons`, { body: tokens })
}
