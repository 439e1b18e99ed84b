// The catalog and deployments: plans with their versions, addons, prices; deployments that are sold, moved and ended; test clocks.
import type { Story, Teller } from './story.ts'

const VERSION = {
  base_price_cents: 1900,
  currency: 'USD',
  items: [{ resource_kind: 'droplet', included_qty: 50 }],
}

const plans: Story = {
  weight: 2,
  async tell({ send, name }) {
    const code = name('plan')
    const { data: plan } = await send('createPlan', { body: { code, name: code } })
    await send('renamePlan', { params: { code }, body: { name: `${code} renamed` }, subject: plan.id })
    const { data: first } = await send('createPlanVersion', { params: { code }, body: VERSION })
    const version = { code, version: String(first.version) }
    const replaced = { ...VERSION, base_price_cents: 2_100 }
    await send('replacePlanVersion', { params: version, body: replaced, subject: first.id })
    await send('publishPlanVersion', { params: version, subject: first.id })
    const { data: draft } = await send('createPlanVersion', { params: { code }, body: VERSION })
    const params = { code, version: String(draft.version) }
    await send('deletePlanVersion', { params, subject: draft.id })
  },
}

const addons: Story = {
  weight: 1,
  async tell({ send, name }) {
    const code = name('addon')
    const body = { code, resource_kind: 'seats', qty: 5, price_cents: 900 }
    const { data: addon } = await send('createAddon', { body })
    await send('changeAddon', { params: { code }, body: { price_cents: 1_000 }, subject: addon.id })
    const price = { resource_kind: name('kind').replaceAll('-', '_'), unit: 'hour', price_cents: 3 }
    const { data } = await send('createResourcePrice', {
      body: { ...price, currency: 'USD', effective_from: '2026-01-01' },
    })
    await send('endResourcePrice', { params: { id: data.id }, body: { effective_to: '2027-01-01' } })
    const meter = name('meter').replaceAll('-', '_')
    await send('createMeter', { body: { code: meter, aggregation: 'sum', unit: 'gb' }, subject: meter })
    await send('renameMeter', { params: { code: meter }, body: { name: 'Traffic' } })
    await send('sendUsageEvents', { body: [{ specversion: '1.0', id: meter, source: 'chaos', type: meter }] })
  },
}

/** Any walk through the states' map that begins at a new deployment's. */
const WALKS = [
  ['paused', 'active', 'cancelled', 'archived'],
  ['active', 'past_due', 'active', 'suspended', 'active'],
  ['suspended', 'cancelled', 'archived'],
  ['active', 'paused', 'suspended', 'active', 'paused'],
]

export async function newDeployment({ send, name }: Pick<Teller, 'send' | 'name'>, tenant: string) {
  const { data } = await send('createDeployment', { body: { tenant_id: tenant, slug: name('shop') } })
  return data as { id: string; state: string }
}

const deployments: Story = {
  weight: 6,
  async tell(teller) {
    const { send, random, world, name } = teller
    const { id, state } = await newDeployment(teller, `tenant-${Math.floor(random() * 6)}`)
    const params = { id }
    await send('changeDeployment', { params, body: { display_name: name('The shop') } })
    const [first, second] = world.plans
    const { data: sold } = await send('subscribeDeployment', { params, body: { plan_code: first } })
    const another = { params, body: { plan_code: second }, subject: sold.id }
    await send('changePlanVersion', another)
    const code = name('extra')
    await send('createAddon', { body: { code, resource_kind: 'seats', qty: 1, price_cents: 100 } })
    const { data: extra } = await send('addAddon', { params, body: { code } })
    await send('removeAddon', { params: { id, addon_id: extra.id } })
    const walk = WALKS[Math.floor(random() * WALKS.length)]!
    let now = state
    for (const to of walk) {
      if (to !== now) await send('transitionDeployment', { params, body: { state: to } })
      now = to
    }
  },
}

const testClocks: Story = {
  weight: 1,
  async tell({ send, name }) {
    const tenant_id = name('sandbox')
    const { data: clock } = await send('createTestClock', {
      body: { tenant_id, now: '2027-01-15T10:00:00Z' },
    })
    await send('advanceTestClock', { params: { id: clock.id }, body: { months: 2 } })
    await send('deleteTestClock', { params: { id: clock.id } })
  },
}

const budgets: Story = {
  weight: 1,
  async tell({ send, name }) {
    const body = { name: name('budget'), tenant_id: name('tenant'), amount_minor: 1000 }
    const { data } = await send('createBudget', { body })
    const params = { id: data.id }
    await send('changeBudget', { params, body: { amount_minor: 2000 } })
    await send('deleteBudget', { params })
  },
}

export const selling: Record<string, Story> = { plans, addons, deployments, testClocks, budgets }
