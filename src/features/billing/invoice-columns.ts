// Where an invoice file's columns are. They are known by their names, in any order; the amount's is named by its
// currency; what is not known is kept as extra.
import { InvoiceFileError, shown } from './invoice-file-error.ts'

const REQUIRED = ['product', 'description', 'start', 'end'] as const
// An older header has no category.
const OPTIONAL = ['group_description', 'hours', 'project_name', 'category'] as const
const KNOWN: readonly string[] = [...REQUIRED, ...OPTIONAL]

type Known = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]

/** Positions; -1 for an optional column that the file lacks. */
export type Columns = Record<Known, number> & {
  count: number
  amount: number
  /** The amount's column as the file calls it. */
  amountName: string
  currency: string
  extra: { name: string; at: number }[]
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export function columnsOf(header: readonly string[]): Columns {
  const names = header.map(name => name.trim())
  const keys = names.map(name => name.toLowerCase().replace(/[ -]+/g, '_'))
  const twice = keys.find((key, at) => key !== '' && keys.indexOf(key) !== at)
  if (twice !== undefined) throw wrong(`the column ${shown(twice)} is there twice`)

  const amounts = names.filter(name => CURRENCIES.has(name))
  if (amounts.length > 1) throw wrong(`there are several amounts: ${amounts.join(', ')}`)
  const missing: string[] = REQUIRED.filter(key => !keys.includes(key))
  if (amounts.length === 0) missing.push('the amount (named by its currency, such as USD)')
  if (missing.length > 0) throw wrong(`columns are missing: ${missing.join(', ')}`)

  const currency = amounts[0]!
  const at = Object.fromEntries(KNOWN.map(key => [key, keys.indexOf(key)])) as Record<Known, number>
  return {
    ...at,
    count: header.length,
    amount: names.indexOf(currency),
    amountName: currency,
    currency,
    // A column without a name holds nothing that could be asked for.
    extra: names.flatMap((name, at) =>
      name === '' || name === currency || KNOWN.includes(keys[at]!) ? [] : [{ name, at }],
    ),
  }
}

const wrong = (problem: string) => new InvoiceFileError(problem, { line: 1 })
