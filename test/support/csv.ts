// CSV in tests: invoice files as the provider writes them, and a reader that is not the service’s own.
import type { InvoiceLine } from '../../src/features/billing/cost-line.ts'
import { readInvoiceFile, TextCheck } from '../../src/features/billing/invoice-file.ts'

/** Rows of cells. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (let at = 0; at < text.length; ) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (text[at] !== '"') cell += text[at]
        else if (text[++at] === '"') cell += '"'
        else break
      }
    } else {
      const end = text.slice(at).search(/,|\r\n/)
      cell = text.slice(at, at + end)
      at += end
    }
    row.push(cell)
    if (text[at] === ',') {
      at++
      continue
    }
    at += 2
    rows.push(row)
    row = []
  }
  return rows
}

/** Rows as objects, by the header. */
export function csvObjects(text: string): Record<string, string>[] {
  const [header = [], ...rows] = parseCsv(text)
  return rows.map(row => Object.fromEntries(header.map((name, index) => [name, row[index]!])))
}
export const HEADER = [
  'product',
  'group_description',
  'description',
  'hours',
  'start',
  'end',
  'USD',
  'project_name',
  'category',
] as const

export type Row = Partial<Record<(typeof HEADER)[number], string>> & Record<string, string>

/** A line of October 2026, with what a test does not care about filled in. */
export const row = (fields: Row = {}): Row => ({
  product: 'Droplets',
  group_description: '',
  description: 'web-01 (s-1vcpu-1gb)',
  hours: '744',
  start: '2026-10-01 00:00:00 +0000',
  end: '2026-10-31 23:59:59 +0000',
  USD: '$6.00',
  project_name: 'acme',
  category: 'iaas',
  ...fields,
})

const field = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

export function csv(rows: Row[], columns: readonly string[] = HEADER, lineEnd = '\n'): string {
  const lines = [
    columns,
    ...rows.map(fields => columns.map(column => (Object.hasOwn(fields, column) ? fields[column]! : ''))),
  ]
  return lines.map(line => line.map(field).join(',') + lineEnd).join('')
}

/** All lines of a file of an invoice in this currency, read in chunks of so many bytes. */
export async function linesOf(text: string | Uint8Array, chunk = 65_536, invoiceCurrency = 'USD') {
  const bytes = Buffer.from(text as string)
  const chunks = async function* () {
    const check = new TextCheck()
    for (let from = 0; from < bytes.length; from += chunk) {
      const part = bytes.subarray(from, from + chunk)
      check.check(part)
      yield part
    }
    check.end()
  }
  const lines: InvoiceLine[] = []
  let currency = ''
  const take = (line: InvoiceLine) => lines.push(line)
  for await (const reading of readInvoiceFile(chunks(), invoiceCurrency, take)) currency = reading.currency
  return { currency, lines }
}

/** Files that are wrong, and what is said of each. */
export const BAD_FILES: [what: string, file: string | Uint8Array, says: RegExp][] = [
  ['nothing', '', /the file is empty/],
  ['HTML', '<!DOCTYPE html><html><body>Be right back</body></html>', /line 1: columns are missing: product/],
  ['JSON', '{"id":"not_found","message":"gone"}', /line 1: a quote opens in the middle/],
  [
    'no amount',
    csv(
      [row()],
      HEADER.filter(c => c !== 'USD'),
    ),
    /line 1: columns are missing: the amount/,
  ],
  [
    'several columns missing',
    csv([row()], ['product', 'USD']),
    /line 1: columns are missing: description, start, end/,
  ],
  [
    'two amounts',
    csv([row({ EUR: '1' })], [...HEADER, 'EUR']),
    /line 1: there are several amounts: USD, EUR/,
  ],
  [
    'an amount by two names',
    csv([row({ ' Amount': '6' })], [...HEADER, ' Amount']),
    /line 1: there are several amounts: USD, Amount$/,
  ],
  ['one currency in two cases', csv([row({ usd: '6' })], [...HEADER, 'usd']), /several amounts: USD, usd/],
  ['a currency of the past', csv([row()]).replace('USD', 'DEM'), /line 1: columns are missing: the amount/],
  [
    'an empty row before a bad header',
    `,,\n${csv([row()], ['product', 'USD'])}`,
    /line 2: columns are missing/,
  ],
  [
    'another currency’s symbol',
    csv([row(), row({ USD: '€1.00' })]),
    /line 3, column USD: "€1.00" is not an amount in USD/,
  ],
  [
    'another dollar',
    csv([row({ USD: 'CA$1.00' })]),
    /line 2, column USD: "CA\$1.00" is not an amount in USD/,
  ],
  [
    'another currency’s code',
    csv([row({ USD: 'EUR 1.00' })]),
    /line 2, column USD: "EUR 1.00" is not an amount/,
  ],
  [
    'another symbol than the invoice’s currency',
    csv([row({ ' Amount ': '£1.00' })], [' Amount ', ...HEADER.filter(c => c !== 'USD')]),
    /line 2, column Amount: "£1.00" is not an amount in USD/,
  ],
  [
    'a currency that contradicts the amount’s',
    csv([row({ Currency: 'usd' }), row({ Currency: 'EUR' })], [...HEADER, 'Currency']),
    /line 3, column currency: "EUR" is not the invoice’s currency, USD/,
  ],
  ['a decimal comma', csv([row({ USD: '$1.234,56' })]), /line 2, column USD: "\$1.234,56" is not an amount/],
  ['hours that are money', csv([row({ hours: '$1,234' })]), /line 2, column hours: "\$1,234"/],
  ['a column twice', csv([row()], [...HEADER, 'Product']), /line 1: the column "product" is there twice/],
  [
    'neither product nor description',
    csv([row({ product: '', description: ' ' })]),
    /line 2, column description/,
  ],
  ['no description', csv([row({ description: '' })]), /line 2, column description: is empty/],
  ['no amount in a line', csv([row({ USD: '' })]), /line 2, column USD: is empty/],
  [
    'an amount that is none',
    csv([row(), row({ USD: 'free' })]),
    /line 3, column USD: "free" is not an amount/,
  ],
  ['an amount in two signs', csv([row({ USD: '-($5.00)' })]), /line 2, column USD: "-\(\$5\.00\)"/],
  ['an amount half in parentheses', csv([row({ USD: '($5.00' })]), /line 2, column USD/],
  ['odd groups of digits', csv([row({ USD: '$1,23.00' })]), /line 2, column USD/],
  ['an amount past all bounds', csv([row({ USD: '$99999999999999999.00' })]), /line 2, column USD/],
  ['a float', csv([row({ USD: '1e3' })]), /line 2, column USD/],
  ['a day that is none', csv([row({ end: '2026-02-30 00:00:00 +0000' })]), /line 2, column end: "2026-02-30/],
  ['a time without an offset', csv([row({ start: '2026-10-01 00:00:00' })]), /line 2, column start/],
  ['an offset that is none', csv([row({ start: '2026-10-01 00:00:00 +9900' })]), /line 2, column start/],
  ['an hour that is none', csv([row({ start: '2026-10-01 24:00:00 +0000' })]), /line 2, column start/],
  ['hours that are none', csv([row({ hours: 'many' })]), /line 2, column hours: "many"/],
  [
    'more fields than columns',
    `${csv([row()])}Droplets,,a (b),1,,,$1.00,,,,\n`,
    /line 3: there are 11 fields/,
  ],
  ['a row cut off', `${csv([row()])}Droplets,,a (b)`, /line 3, column USD: is empty/],
  ['a quote never closed', `${csv([row()])}Droplets,"open`, /line 3: a quote is never closed/],
  ['a quote in the middle', `${csv([row()])}Drop"lets,`, /line 3: a quote opens in the middle/],
  ['text after a quote', `${csv([row()])}"Drop"lets,`, /line 3: text follows a closing quote/],
  ['a line without an end', `${csv([row()])}"${'x'.repeat(400_000)}`, /line 3: a line is too long/],
  ['a NUL', csv([row(), row({ description: 'a\0b (c)' })]), /line 3: there is a NUL byte/],
  [
    'Latin-1',
    Buffer.from(csv([row(), row({ description: 'é (c)' }), row()]), 'latin1'),
    /line 3: this is not UTF-8 text/,
  ],
  ['UTF-16', Buffer.from(`\ufeff${csv([row()])}`, 'utf16le'), /line 1: there is a NUL byte/],
  [
    'UTF-8 cut off',
    Buffer.from(csv([row({ category: 'é' })])).subarray(0, -2),
    /line 2: this is not UTF-8 text/,
  ],
  [
    'wrong after a line in two pieces',
    csv([row({ description: 'two\r\nlines (x)' }), row(), row({ USD: 'x' })], HEADER, '\r\n'),
    /line 5, column USD/,
  ],
]
