// The catalog: plans with their versions, addons and prices, as examples/catalog.yaml has them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Teller } from './recorder.ts'

interface Catalog {
  meters: { code: string }[]
  plans: { code: string; name: string; version: object }[]
  addons: { code: string }[]
  resource_prices: { resource_kind: string; effective_from: string; effective_to?: string }[]
}

const base = '/api/v1/catalog'

export async function sell({ tell, call }: Teller): Promise<void> {
  const file = join(import.meta.dirname, '../../examples/catalog.yaml')
  const { meters, plans, addons, resource_prices: prices } = parse(readFileSync(file, 'utf8')) as Catalog

  for (const meter of meters) await tell(201, 'POST', `${base}/meters`, { body: meter })
  const [seats] = meters as [Catalog['meters'][number]]
  await tell('meter_code_taken', 'POST', `${base}/meters`, { body: seats })
  await tell(200, 'GET', `${base}/meters`)
  await tell(200, 'GET', `${base}/meters/${seats.code}`)
  await tell(200, 'PATCH', `${base}/meters/${seats.code}`, { body: { name: 'Seats taken' } })

  for (const { code, name, version } of plans) {
    await tell(201, 'POST', `${base}/plans`, { body: { code, name } })
    await tell(201, 'POST', `${base}/plans/${code}/versions`, { body: version })
    await tell(200, 'POST', `${base}/plans/${code}/versions/1/publish`, { body: {} })
  }
  const [{ code, name, version }] = plans as [Catalog['plans'][number]]
  const starter = `${base}/plans/${code}`
  await tell('plan_code_taken', 'POST', `${base}/plans`, { body: { code, name } })
  await tell(200, 'GET', `${base}/plans`)
  await tell(200, 'GET', starter)
  await call('PATCH', starter, { body: { name: 'Beginner' } })
  await tell(200, 'PATCH', starter, { body: { name: 'Starter' } })
  await tell(201, 'POST', `${starter}/versions`, { body: version })
  await tell(200, 'PUT', `${starter}/versions/2`, { body: { ...version, base_price_cents: 2100 } })
  await tell(200, 'GET', `${starter}/versions`)
  await tell(200, 'GET', `${starter}/versions/1`)
  await tell('already_active', 'POST', `${starter}/versions/1/publish`, { body: {} })
  await tell('not_a_draft', 'PUT', `${starter}/versions/1`, { body: version })
  await tell(200, 'POST', `${starter}/versions/2/publish`, { body: {} })
  await tell('version_retired', 'POST', `${starter}/versions/1/publish`, { body: {} })
  await tell(201, 'POST', `${starter}/versions`, { body: version })
  await tell(204, 'DELETE', `${starter}/versions/3`, { body: {} })

  for (const addon of addons) await tell(201, 'POST', `${base}/addons`, { body: addon })
  const [addon] = addons as [Catalog['addons'][number]]
  await tell('addon_code_taken', 'POST', `${base}/addons`, { body: addon })
  await tell(200, 'GET', `${base}/addons`)
  await tell(200, 'GET', `${base}/addons/${addon.code}`)
  await tell(200, 'PATCH', `${base}/addons/${addon.code}`, { body: { price_cents: 1500 } })

  const added = []
  for (const price of prices) added.push(await tell(201, 'POST', `${base}/resource-prices`, { body: price }))
  await tell('price_overlap', 'POST', `${base}/resource-prices`, { body: prices[0] })
  const open = added[prices.findIndex(price => !price.effective_to)]!
  const path = `${base}/resource-prices/${open.body.data.id}`
  await tell(200, 'GET', `${base}/resource-prices`)
  await tell(200, 'GET', path)
  await tell(200, 'PATCH', path, { body: { effective_to: '2027-01-01' } })
}
