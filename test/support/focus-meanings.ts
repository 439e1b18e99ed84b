// What the rules of FOCUS 1.2 mean that the foundation's model only has words for: each held against what the test itself
// knows of the lines, their invoices, resources and sizes.
import type { CostLineRow } from '../../src/features/billing/cost-line.ts'
import { decimal, isDecimal, product, sum } from './decimals.ts'
import { checksOf, type Fact, type Facts, type OfRow } from './focus-facts.ts'
import { formatMeanings } from './focus-formats.ts'
import { type Cells, isKeyValue, type Meaning } from './focus-rules.ts'

const OUR_TAGS = 'cloudops/'
/** FOCUS's own properties of a price that the export has. */
const DETAILS: Record<string, string> = {
  InstanceType: 'string',
  CoreCount: 'number',
  MemorySize: 'number',
  DiskSpace: 'number',
}
const monthStart = ({ period }: CostLineRow) => `${period.slice(0, 7)}-01T00:00:00Z`
function monthEnd({ period }: CostLineRow): string {
  const [year, month] = period.split('-').map(Number) as [number, number]
  return `${month === 12 ? year + 1 : year}-${String(month === 12 ? 1 : month + 1).padStart(2, '0')}-01T00:00:00Z`
}
/** The provider ends days at their last second. */
const endOf = (line: CostLineRow): string => {
  if (line.end_at === null) return monthEnd(line)
  const end = Date.parse(line.end_at)
  const exclusive = line.end_at.includes('T23:59:59') ? Math.ceil((end + 1) / 86_400_000) * 86_400_000 : end
  return `${new Date(exclusive).toISOString().slice(0, 19)}Z`
}
const startOf = (line: CostLineRow): string =>
  line.start_at === null ? monthStart(line) : `${line.start_at.slice(0, 19)}Z`

const isPriced = ({ ChargeCategory }: Cells) => ChargeCategory === 'Usage' || ChargeCategory === 'Purchase'
const entriesOf = (text: string | null | undefined): [string, unknown][] =>
  text && isKeyValue(text) ? Object.entries(JSON.parse(text)) : []
const detailsOf = ({ SkuPriceDetails }: Cells) => entriesOf(SkuPriceDetails)
const tagsOf = ({ Tags }: Cells) => entriesOf(Tags)

export function meaningsOf(facts: Facts): Record<string, Meaning> {
  const { account, of } = facts
  const { each, cells, oneFor } = checksOf(facts)
  const billed =
    (column: string): OfRow =>
    (row, { line }) =>
      decimal(row[column]!) === decimal(line.amount) && row.BillingCurrency === line.currency
  const unrelated = (column: string): Meaning =>
    each((row, fact) => row.ChargeCategory === 'Tax' || billed(column)(row, fact))
  const listed: Meaning = each((row, { size }) => {
    if (!isPriced(row)) return true
    if (!size) return false
    const price =
      row.PricingUnit === 'Months' ? size.monthly : row.PricingUnit === 'Hours' ? size.hourly : null
    return row.SkuId === size.slug && price !== null && decimal(row.ListUnitPrice!) === decimal(price)
  })
  const sku = ({ line, size }: Fact) =>
    size?.slug ?? `${line.kind} ${/\(([^()]*)\)$/.exec(line.description)?.[1]}`
  const oneSku = oneFor(
    (row, fact) => (isPriced(row) ? sku(fact) : null),
    row => row.SkuId!,
  )
  const onePrice = oneFor(
    (row, fact) => (isPriced(row) ? `${sku(fact)} ${row.PricingUnit}` : null),
    row => row.SkuPriceId!,
  )
  const known = ({ resource }: Fact) => resource?.tags ?? []
  const details: Meaning = each((row, { size }) => {
    const expected = size && {
      InstanceType: size.slug,
      CoreCount: size.cores,
      MemorySize: size.memory,
      DiskSpace: size.disk,
    }
    return detailsOf(row).every(([name, value]) => expected?.[name as keyof typeof expected] === value)
  })

  return {
    ...formatMeanings(facts),
    'BilledCost-C-006-M': each(billed('BilledCost')),
    'BilledCost-C-007-M': ({ rows }) => {
      const invoices = Map.groupBy(rows, row => row.InvoiceId)
      for (const [id, own] of invoices) {
        const { invoice } = of.get(own[0]!.x_CostLineId!)!
        const total = sum(own.map(row => row.BilledCost!))
        if (invoice.invoice_uuid !== id || total !== decimal(invoice.amount)) return `${id}: ${total}`
      }
      return undefined
    },
    'BillingAccountId-C-004-M': each(
      row => row.BillingAccountId === account.id && row.BillingAccountName === account.name,
    ),
    'BillingCurrency-C-005-M': each((row, { invoice }) => row.BillingCurrency === invoice.currency),
    'BillingPeriodEnd-C-004-M': each((row, { line }) => row.BillingPeriodEnd === monthEnd(line)),
    'BillingPeriodStart-C-004-M': each((row, { line }) => row.BillingPeriodStart === monthStart(line)),
    'ChargeClass-C-003-C': each(
      (row, { line }) => endOf(line) <= monthStart(line) || row.ChargeClass === null,
    ),
    'ChargeClass-C-004-C': each(
      (row, { line }) => endOf(line) > monthStart(line) || row.ChargeClass !== null,
    ),
    'ChargePeriodEnd-C-004-M': each((row, { line }) => row.ChargePeriodEnd === endOf(line)),
    'ChargePeriodStart-C-004-M': each((row, { line }) => row.ChargePeriodStart === startOf(line)),
    'ConsumedQuantity-C-008-C': cells(['ConsumedQuantity'], isDecimal),
    'ContractedCost-C-005-M': each(billed('ContractedCost')),
    // What taxes are reckoned from is contracted and effective as it was billed, and so are they.
    'ContractedCost-C-007-C': each(billed('ContractedCost')),
    'ContractedCost-C-008-C': unrelated('ContractedCost'),
    'EffectiveCost-C-006-M': each(billed('EffectiveCost')),
    'EffectiveCost-C-009-C': each(billed('EffectiveCost')),
    'EffectiveCost-C-010-C': unrelated('EffectiveCost'),
    'InvoiceId-C-007-C': each(
      (row, { invoice }) => row.InvoiceId === invoice.invoice_uuid && row.BillingAccountId === account.id,
    ),
    'ListCost-C-005-M': each(
      (row, { size, line }) => !size || line.currency === 'USD' || row.ListCost === line.amount,
    ),
    'ListCost-C-007-C': ({ rows }) => {
      const others = [...of.values()].some(({ size }) => size !== null)
      return others && rows.some(row => row.ChargeCategory === 'Tax')
        ? 'taxes are of what was billed'
        : undefined
    },
    'ListCost-C-008-C': each((row, fact) => isPriced(row) || billed('ListCost')(row, fact)),
    'ListUnitPrice-C-009-M': each(
      (row, { line }) => row.PricingUnit === 'Units' || line.currency === 'USD' || row.ListUnitPrice === null,
    ),
    // There is no commitment and no market in any of it.
    'PricingCategory-C-008-C': each(row => row.PricingCategory === 'Standard'),
    'PricingCategory-C-009-C': each(row => row.PricingCategory !== 'Committed'),
    'PricingCategory-C-010-C': each(row => row.PricingCategory !== 'Dynamic'),
    'PricingCategory-C-011-C': each(row => row.PricingCategory !== 'Other'),
    'PricingQuantity-C-009-C': each(
      row =>
        row.ListUnitPrice === null ||
        product(row.ListUnitPrice!, row.PricingQuantity!) === decimal(row.ListCost!),
    ),
    'PricingUnit-C-008-M': each((row, { size }) => size !== null && row.PricingUnit !== 'Units'),
    // The provider's file has hours, and no unit.
    'PricingUnit-C-009-C': each(
      (_, { line }) => !Object.keys(line.extra ?? {}).some(name => name.includes('unit')),
    ),
    'RegionId-C-004-C': each(
      (row, { line, resource }) =>
        !isRegional(line.kind) || (resource !== null && row.RegionId === resource.region),
    ),
    'ResourceId-C-004-C': each((row, { resource }) => resource !== null || row.ResourceId === null),
    'ResourceId-C-005-C': each((row, { line }) => !isResource(line.kind) || row.ResourceId !== null),
    'ResourceId-C-007-M': ({ rows }) =>
      oneFor(
        (row, { resource }) => resource && row.ResourceId!,
        row => of.get(row.x_CostLineId!)!.resource!.id,
      )({
        columns: [],
        rows,
      }),
    'ResourceName-C-004-C': each(row => row.ResourceName === null),
    'ResourceName-C-005-C': each(
      (row, { resource }) => !resource?.name || row.ResourceName === resource.name,
    ),
    'ResourceName-C-006-C': each(row => row.ResourceName === null || row.ResourceName !== row.ResourceId),
    'SubAccountId-C-004-C': each((row, { line }) => line.tenant_id !== null || row.SubAccountId === null),
    'SubAccountId-C-005-C': each((row, { line }) => row.SubAccountId === line.tenant_id),
    'ServiceName-C-006-C': each(
      (row, { line }) => !['credit', 'tax'].includes(line.kind) || row.ServiceCategory === 'Other',
    ),
    'SkuId-C-008-M': oneSku,
    'SkuId-C-009-M': oneSku,
    'SkuId-C-010-M': oneSku,
    'SkuId-C-011-C': oneFor(
      row => row.SkuId ?? null,
      row => row.ServiceCategory!,
    ),
    'SkuPriceDetails-C-007-M': oneFor(
      row => row.SkuPriceId ?? null,
      row => row.SkuPriceDetails!,
    ),
    'SkuPriceDetails-C-008-M': details,
    'SkuPriceDetails-C-010-C': each(row => !detailsOf(row).some(([name]) => name.startsWith('x_'))),
    'SkuPriceDetails-C-017-C': each(row =>
      detailsOf(row).every(([name]) => name.startsWith('x_') || Object.hasOwn(DETAILS, name)),
    ),
    'SkuPriceDetails-C-018-C': details,
    'SkuPriceDetails-C-020-M': each(row => detailsOf(row).every(([name]) => Object.hasOwn(DETAILS, name))),
    'SkuPriceDetails-C-021-M': each(row =>
      detailsOf(row).every(([name, value]) => DETAILS[name] === typeof value),
    ),
    'SkuPriceDetails-C-022-C': details,
    'SkuPriceId-C-009-M': onePrice,
    'SkuPriceId-C-010-M': onePrice,
    'SkuPriceId-C-012-C': oneFor(
      row => row.SkuPriceId ?? null,
      row => row.ServiceCategory!,
    ),
    'SkuPriceId-C-013-M': listed,
    'SkuPriceId-C-014-C': listed,
    'Tags-C-004-M': each((row, fact) => known(fact).every(tag => tagsOf(row).some(([name]) => name === tag))),
    'Tags-C-005-M': each((row, fact) =>
      tagsOf(row).every(([name]) => name.startsWith(OUR_TAGS) || known(fact).includes(name)),
    ),
    'Tags-C-008-M': each(row =>
      tagsOf(row).every(([name, value]) => name.startsWith(OUR_TAGS) || value === true),
    ),
    'Tags-C-010-C': each((row, { line }) =>
      tagsOf(row).every(
        ([name, value]) => value === true || value === line.deployment_id || name === `${OUR_TAGS}project`,
      ),
    ),
    'Tags-C-012-M': each(row =>
      tagsOf(row).every(([name, value]) => value === true || name.startsWith(OUR_TAGS)),
    ),
    'Tags-C-015-C': each(row =>
      tagsOf(row).every(([name, value]) => value === true || name.startsWith(OUR_TAGS)),
    ),
    'Tags-C-016-C': each((row, fact) => known(fact).every(tag => tagsOf(row).some(([name]) => name === tag))),
    'Tags-C-017-M': each(row =>
      tagsOf(row).every(([name, value]) => !name.startsWith(OUR_TAGS) || value !== true),
    ),
  }
}

const NOT_RESOURCES = ['tax', 'credit', 'bandwidth', 'support', 'refund']
const isResource = (kind: string) => !NOT_RESOURCES.some(word => kind.includes(word))
const isRegional = (kind: string) => ['droplet', 'volume', 'load_balancer', 'database'].includes(kind)
