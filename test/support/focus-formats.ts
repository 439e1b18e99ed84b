// What FOCUS's rules of formats mean that the foundation's model only has words for.
import { isDecimal } from './decimals.ts'
import { checksOf, type Facts } from './focus-facts.ts'
import { isDateTime, isKeyValue, isUnit, type Meaning, RULES } from './focus-rules.ts'

const NUMBERS = [...RULES.values()].flatMap(({ check }) =>
  check?.[0] === 'FormatNumeric' ? [check[1] as string] : [],
)
const TIMES = ['BillingPeriodStart', 'BillingPeriodEnd', 'ChargePeriodStart', 'ChargePeriodEnd']
const KEY_VALUES = ['Tags', 'SkuPriceDetails']
const FOCUS_COLUMNS = new Set(
  [...RULES.values()].filter(rule => rule.entity === 'Column').map(({ of }) => of),
)

export function formatMeanings(facts: Facts): Record<string, Meaning> {
  const { each, cells, oneFor } = checksOf(facts)
  const number = cells(NUMBERS, isDecimal)
  const time = cells(TIMES, isDateTime)
  const keyValue = cells(KEY_VALUES, isKeyValue)
  const columnNames =
    (test: (name: string) => boolean): Meaning =>
    ({ columns }) =>
      columns.find(name => !name.startsWith('x_') && !test(name))
  return {
    'DateTimeFormat-A-001-M': time,
    'DateTimeFormat-A-002-M': time,
    'DateTimeFormat-A-004-M': time,
    'DateTimeFormat-A-005-M': time,
    'DateTimeFormat-A-006-M': time,
    'CurrencyFormat-A-001-C': cells(['BillingCurrency'], text => /^[A-Z]{3}$/.test(text)),
    'CurrencyFormat-A-002-C': cells(['BillingCurrency'], text => /^[A-Z]{3}$/.test(text)),
    'NumericFormat-A-002-M': number,
    'NumericFormat-A-003-M': number,
    'NumericFormat-A-004-M': number,
    'NumericFormat-A-005-M': number,
    'NumericFormat-A-006-M': number,
    'NumericFormat-A-007-M': number,
    'NumericFormat-A-008-M': number,
    'NumericFormat-A-009-M': number,
    'NumericFormat-A-010-M': number,
    'NumericFormat-A-011-M': each(
      (row, { line }) => row.BilledCost!.startsWith('-') === line.amount_minor < 0 || line.amount_minor === 0,
    ),
    'NumericFormat-A-012-M': ({ columns }) => {
      const decimals = [...RULES.values()].flatMap(({ check }) =>
        check?.[0] === 'TypeDecimal' ? [check[1] as string] : [],
      )
      return NUMBERS.find(name => columns.includes(name) && !decimals.includes(name))
    },
    'StringHandling-A-001-M': each(row =>
      Object.values(row).every(text => text === null || (text.isWellFormed() && !text.includes('\ufffd'))),
    ),
    'StringHandling-A-003-M': each(
      (row, { line, resource }) =>
        row.ChargeDescription === line.description &&
        row.ServiceName === line.product &&
        (row.ResourceName === null || row.ResourceName === resource?.name),
    ),
    'StringHandling-A-004-M': each((row, { resource }) => !resource || row.RegionId === resource.region),
    'StringHandling-A-005-M': each(
      (row, { resource }) => !resource?.name || row.ResourceName === resource.name,
    ),
    'StringHandling-A-006-M': oneFor(
      (_, { resource }) => resource?.id ?? null,
      row => row.ResourceId!,
    ),
    'ColumnHandling-A-001-M': columnNames(name => /^([A-Z][a-z]+)+$/.test(name)),
    'ColumnHandling-A-002-M': columnNames(name => FOCUS_COLUMNS.has(name)),
    'ColumnHandling-A-003-M': columnNames(name => /^[A-Za-z0-9]+$/.test(name)),
    'ColumnHandling-A-006-M': ({ columns }) =>
      ['BillingAccount', 'Region', 'Resource', 'SubAccount'].find(
        name => !columns.includes(`${name}Id`) || !columns.includes(`${name}Name`) || columns.includes(name),
      ),
    'ColumnHandling-A-008-M': each(row =>
      ['ChargeCategory', 'ServiceCategory'].every(name => /^[A-Z][A-Za-z ]+$/.test(row[name]!)),
    ),
    'ColumnHandling-A-010-M': ({ columns }) =>
      columns.find(name => !FOCUS_COLUMNS.has(name) && !name.startsWith('x_')),
    'UnitFormat-A-003-M': cells(['PricingUnit', 'ConsumedUnit'], isUnit),
    'KeyValueFormat-A-001-M': keyValue,
    'KeyValueFormat-A-002-M': keyValue,
    'KeyValueFormat-A-003-M': keyValue,
    'KeyValueFormat-A-004-M': keyValue,
    'NullHandling-A-001-C': each(row =>
      Object.values(row).every(text => text === null || text.trim() !== ''),
    ),
    'NullHandling-A-002-M': each(row =>
      Object.values(row).every(text => text === null || !/^(|null|none|n\/a|not applicable|-)$/i.test(text)),
    ),
  }
}
