// A cost line as a row of the FinOps Open Cost and Usage Specification (FOCUS) 1.2. docs/focus.md explains each column;
// what the provider's file does not say is left out or null, never made up.
import { type Kind, urnOf } from '../../integrations/digitalocean/index.ts'
import type { Cell } from '../../kernel/http/csv.ts'
import { firstDayAfter, monthOf } from '../../kernel/time.ts'
import type { CostLineRow } from './cost-line.ts'
import { type ListedSize, type ListPrice, listPriceOf } from './focus-prices.ts'
import type { InvoiceRow } from './invoice.ts'

/** What a row is made of. */
export const FOCUS_FIELDS = [
  ...(['id', 'period', 'product', 'description', 'kind', 'hours', 'start_at', 'end_at', 'amount'] as const),
  ...(['currency', 'project_name', 'is_tax', 'tax_flagged', 'deployment_id', 'tenant_id'] as const),
] as const satisfies readonly (keyof CostLineRow)[]

export type FocusLine = Pick<CostLineRow, (typeof FOCUS_FIELDS)[number]> &
  Pick<InvoiceRow, 'invoice_uuid' | 'invoice_number'> & { resource: FocusResource | null }

interface FocusResource {
  kind: string
  provider_id: string
  name: string
  region: string | null
  tags: string[]
}

const PROVIDER_NAME = 'DigitalOcean'

/** What all lines of an export have in common. */
export interface FocusBook {
  account: { id: string; name: string }
  /** By slug. */
  sizes: ReadonlyMap<string, ListedSize>
}

/** A line, and what several columns are made of. */
interface Charge {
  line: FocusLine
  resource: FocusResource | null
  account: FocusBook['account']
  category: ChargeCategory
  /** Of what is bought by the unit. */
  price: ListPrice | null
  /** Of what is used. */
  used: { count: Cell; unit: string } | null
  /** Begin and end of the invoice's month, and of the charge. */
  billed: [from: string, until: string]
  charged: [from: string, until: string]
}

/** In the order of the file: the specification's own by name, then ours. */
const COLUMNS = {
  BilledCost: ({ line }) => line.amount,
  BillingAccountId: ({ account }) => account.id,
  BillingAccountName: ({ account }) => account.name,
  BillingCurrency: ({ line }) => line.currency,
  BillingPeriodEnd: ({ billed }) => billed[1],
  BillingPeriodStart: ({ billed }) => billed[0],
  ChargeCategory: ({ category }) => category,
  // What ended before the invoice's month began was invoiced before, or should have been.
  ChargeClass: ({ billed, charged }) => (charged[1] <= billed[0] ? 'Correction' : null),
  ChargeDescription: ({ line }) => line.description,
  ChargeFrequency: ({ category }) =>
    category === 'Usage' ? 'Usage-Based' : category === 'Purchase' ? 'Recurring' : 'One-Time',
  ChargePeriodEnd: ({ charged }) => charged[1],
  ChargePeriodStart: ({ charged }) => charged[0],
  ConsumedQuantity: ({ used }) => used?.count ?? null,
  ConsumedUnit: ({ used }) => used?.unit ?? null,
  ContractedCost: ({ line }) => line.amount,
  EffectiveCost: ({ line }) => line.amount,
  InvoiceId: ({ line }) => line.invoice_uuid,
  InvoiceIssuerName: () => PROVIDER_NAME,
  ListCost: ({ line, price }) => price?.cost ?? line.amount,
  ListUnitPrice: ({ price }) => price?.unitPrice ?? null,
  // The provider knows no spot market, and its file no commitment.
  PricingCategory: ({ price }) => price && 'Standard',
  PricingQuantity: ({ price }) => price?.quantity ?? null,
  PricingUnit: ({ price }) => price?.unit ?? null,
  ProviderName: () => PROVIDER_NAME,
  PublisherName: () => PROVIDER_NAME,
  RegionId: ({ resource }) => resource?.region ?? null,
  RegionName: ({ resource }) => (resource?.region ? regionName(resource.region) : null),
  ResourceId: ({ resource }) => resource && resourceId(resource),
  ResourceName: ({ resource }) =>
    (resource && resource.name !== resourceId(resource) && resource.name) || null,
  ResourceType: ({ resource }) => resource && typeName(resource.kind),
  ServiceCategory: ({ line }) => serviceOf(line.kind).category,
  ServiceName: ({ line }) => line.product,
  ServiceSubcategory: ({ line }) => serviceOf(line.kind).subcategory,
  SkuId: ({ price }) => price?.sku ?? null,
  SkuMeter: ({ line, price }) => price && typeName(line.kind),
  SkuPriceDetails: ({ price }) => price?.details ?? null,
  SkuPriceId: ({ price }) => price?.skuPrice ?? null,
  SubAccountId: ({ line }) => line.tenant_id,
  SubAccountName: ({ line }) => line.tenant_id,
  Tags: ({ line }) => tagsOf(line),
  x_CostLineId: ({ line }) => line.id,
  x_InvoiceNumber: ({ line }) => line.invoice_number,
  x_TaxFlagged: ({ line }) => line.tax_flagged,
} satisfies Record<string, (charge: Charge) => Cell>

export const FOCUS_COLUMNS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]
export type FocusRow = Record<keyof typeof COLUMNS, Cell>

export function focusRow(line: FocusLine, { account, sizes }: FocusBook): FocusRow {
  const category = chargeCategory(line)
  const billed: Charge['billed'] = [
    midnight(monthOf(line.period).first_day),
    midnight(firstDayAfter(line.period)),
  ]
  const from = line.start_at === null ? billed[0] : seconds(line.start_at)
  const until = line.end_at === null ? billed[1] : exclusive(line.end_at)
  const charge: Charge = {
    line,
    resource: line.resource,
    account,
    category,
    price: category === 'Usage' || category === 'Purchase' ? listPriceOf(line, sizes) : null,
    used: category === 'Usage' ? quantityOf(line) : null,
    billed,
    charged: [from, until],
  }
  return Object.fromEntries(FOCUS_COLUMNS.map(name => [name, COLUMNS[name](charge)])) as FocusRow
}

/** A service of FOCUS's catalogue. Names and pairs are the specification's allowed values. */
interface FocusService {
  category: string
  subcategory: string
}

const service = (category: string, subcategory = `Other (${category})`): FocusService => ({
  category,
  subcategory,
})

const SERVICES: Record<string, FocusService> = {
  droplet: service('Compute', 'Virtual Machines'),
  kubernetes_cluster: service('Compute', 'Containers'),
  functions: service('Compute', 'Serverless Compute'),
  app: service('Web', 'Application Platforms'),
  volume: service('Storage', 'Block Storage'),
  snapshot: service('Storage', 'Backup Storage'),
  image: service('Storage', 'Backup Storage'),
  backup: service('Storage', 'Backup Storage'),
  spaces: service('Storage', 'Object Storage'),
  spaces_subscription: service('Storage', 'Object Storage'),
  database: service('Databases'),
  load_balancer: service('Networking', 'Application Networking'),
  reserved_ip: service('Networking', 'Network Infrastructure'),
  domain: service('Networking', 'Network Infrastructure'),
  bandwidth: service('Networking', 'Network Connectivity'),
  registry: service('Developer Tools'),
  support: service('Management and Governance', 'Support'),
}

const OTHER = service('Other')

export const serviceOf = (kind: string): FocusService =>
  Object.hasOwn(SERVICES, kind) ? SERVICES[kind]! : OTHER

/** Every pair that can occur. */
export const focusServices: readonly FocusService[] = [...Object.values(SERVICES), OTHER]

export const CHARGE_CATEGORIES = ['Usage', 'Purchase', 'Tax', 'Credit', 'Adjustment'] as const
export type ChargeCategory = (typeof CHARGE_CATEGORIES)[number]

/** Tax is what finance was told is tax, and what the provider calls so; the rest goes by its word for the product. */
export function chargeCategory({
  is_tax,
  kind,
  product,
}: Pick<CostLineRow, 'is_tax' | 'kind' | 'product'>): ChargeCategory {
  if (is_tax || kind === 'tax') return 'Tax'
  if (/\bcredits?\b/i.test(product)) return 'Credit'
  if (/\b(adjustments?|refunds?)\b/i.test(product)) return 'Adjustment'
  if (/\b(subscriptions?|support)\b/i.test(product)) return 'Purchase'
  return 'Usage'
}

/** Most lines count hours; what counts nothing is one of it. */
const quantityOf = ({ hours }: FocusLine) =>
  hours === null ? { count: 1, unit: 'Units' } : { count: hours, unit: 'Hours' }

/** Kinds without a name in the provider's own scheme get one of that form, for their ids are only unique among themselves. */
const resourceId = ({ kind, provider_id }: FocusResource): string =>
  urnOf(kind as Kind, provider_id) ?? `do:${kind}:${provider_id}`

const midnight = (day: string) => `${day}T00:00:00Z`

/** `2026-10-01T00:00:00.000Z` → `2026-10-01T00:00:00Z`. */
const seconds = (time: string) => `${time.slice(0, 19)}Z`

/** The provider ends a month at its last second; FOCUS ends it where the next begins. */
function exclusive(end: string): string {
  if (!/T23:59:59/.test(end)) return seconds(end)
  return midnight(
    new Date(Date.parse(`${end.slice(0, 10)}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10),
  )
}

const CITIES: Record<string, string> = {
  ams: 'Amsterdam',
  atl: 'Atlanta',
  blr: 'Bangalore',
  fra: 'Frankfurt',
  lon: 'London',
  nyc: 'New York',
  ric: 'Richmond',
  sfo: 'San Francisco',
  sgp: 'Singapore',
  syd: 'Sydney',
  tor: 'Toronto',
}

/** `nyc3` → `New York 3`; a region nobody has named yet is called by its slug. */
function regionName(slug: string): string {
  const [, city = '', number = ''] = /^([a-z]{3})(\d+)$/.exec(slug) ?? []
  return Object.hasOwn(CITIES, city) ? `${CITIES[city]} ${number}` : slug
}

const WORDS: Record<string, string> = { ip: 'IP', ssh: 'SSH', vpc: 'VPC' }

/** `load_balancer` → `Load Balancer`. */
const typeName = (kind: string): string =>
  kind
    .split('_')
    .map(word => WORDS[word] ?? word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

const OUR_TAGS = 'cloudops/'

/** Ours under a prefix of their own; the provider's tags have no values, which FOCUS writes as true. */
function tagsOf({ deployment_id, project_name, resource }: FocusLine): string | null {
  const theirs = (resource?.tags ?? []).filter(tag => !tag.startsWith(OUR_TAGS))
  const tags: [string, string | true][] = theirs.map(tag => [tag, true])
  if (deployment_id !== null) tags.push([`${OUR_TAGS}deployment`, deployment_id])
  if (project_name !== null) tags.push([`${OUR_TAGS}project`, project_name])
  return tags.length > 0 ? JSON.stringify(Object.fromEntries(tags)) : null
}
