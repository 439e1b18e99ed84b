// The catalog of a running service, read and changed through its API.
import type { Catalog, Change, PlanItem, StandingCatalog, VersionTerms } from '../features/catalog/index.ts'
import { sameTerms } from '../features/catalog/index.ts'
import type { ServiceClient } from './service-client.ts'

const base = '/api/v1/catalog'

interface Plan {
  code: string
  name: string
  active_version: VersionTerms | null
}
type Addon = Catalog['addons'][number]
type Price = StandingCatalog['resource_prices'][number]
type Version = VersionTerms & { version: number; status: string }

export async function standingCatalog(client: ServiceClient): Promise<StandingCatalog> {
  const plans = await client.all<Plan>(`${base}/plans`)
  const addons = await client.all<Addon>(`${base}/addons`)
  const prices = await client.all<Price>(`${base}/resource-prices`)
  // Field by field: a service newer than this command may say more than a file can.
  return {
    plans: plans.map(({ code, name, active_version }) => ({
      code,
      name,
      version: active_version && termsOf(active_version),
    })),
    addons: addons.map(({ code, name, resource_kind, qty, price_cents, currency }) => ({
      code,
      name,
      resource_kind,
      qty,
      price_cents,
      currency,
    })),
    resource_prices: prices.map(
      ({ id, resource_kind, unit, price_cents, currency, effective_from, effective_to }) => ({
        id,
        resource_kind,
        unit,
        price_cents,
        currency,
        effective_from,
        effective_to,
      }),
    ),
  }
}

const termsOf = ({ base_price_cents, currency, items }: VersionTerms): VersionTerms => ({
  base_price_cents,
  currency,
  items: items.map(
    ({ resource_kind, included_qty, overage_unit, overage_price_cents, hard_cap_qty }): PlanItem => ({
      resource_kind,
      included_qty,
      overage_unit,
      overage_price_cents,
      hard_cap_qty,
    }),
  ),
})

export async function make(client: ServiceClient, change: Change): Promise<void> {
  switch (change.do) {
    case 'create plan':
      await client.post(`${base}/plans`, { code: change.code, name: change.name })
      return
    case 'rename plan':
      await client.patch(`${base}/plans/${change.code}`, { name: change.name })
      return
    case 'publish version':
      return publish(client, change.code, change.terms)
    case 'create addon':
      await client.post(`${base}/addons`, change.addon)
      return
    case 'change addon':
      await client.patch(`${base}/addons/${change.code}`, change.after)
      return
    case 'end price':
      await client.patch(`${base}/resource-prices/${change.price.id}`, { effective_to: change.effective_to })
      return
    case 'add price':
      await client.post(`${base}/resource-prices`, change.price)
  }
}

/** A draft that says the same already is published, such as one that an interrupted run has left. */
async function publish(client: ServiceClient, code: string, terms: VersionTerms): Promise<void> {
  const path = `${base}/plans/${code}/versions`
  const versions = await client.all<Version>(path)
  const draft =
    versions.find(version => version.status === 'draft' && sameTerms(version, terms)) ??
    (await client.post<{ data: Version }>(path, terms)).data
  await client.post(`${path}/${draft.version}/publish`)
}
