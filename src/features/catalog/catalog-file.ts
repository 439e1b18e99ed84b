// The catalog as a file: YAML, or JSON, which is YAML too. Reading finds every fault at once and says where it stands;
// writing gives a file that, read again, is the same catalog.
import { type Static, Type } from 'typebox'
import { type Document, isNode, LineCounter, parseDocument, stringify } from 'yaml'
import type { FieldError } from '../../kernel/errors.ts'
import { Body, Nullable } from '../../kernel/http/schemas.ts'
import { fieldErrors, validatorCompiler } from '../../kernel/http/validation.ts'
import { CreateMeter, type MeterTerms, meterErrors } from './meter.ts'
import { CreatePlan, itemErrors, VersionTerms } from './plan.ts'
import {
  CreateAddon,
  CreateResourcePrice,
  type NewAddon,
  overlap,
  type PriceTerms,
  periodErrors,
  subjectOf,
} from './price.ts'

export interface Catalog {
  meters: MeterTerms[]
  /** Each with what its active version is to be; null: the file does not say. */
  plans: { code: string; name: string; version: VersionTerms | null }[]
  addons: Required<NewAddon>[]
  resource_prices: PriceTerms[]
}

/** Or null, which the API's description would have under the same name. */
const { title: _, ...UnnamedTerms } = VersionTerms as typeof VersionTerms & { title?: string }

/** With the bodies of the API, so that a file and a request are judged alike. */
export const CatalogDocument = Body({
  meters: Type.Array(CreateMeter, { default: [] }),
  plans: Type.Array(
    Body({
      ...CreatePlan.properties,
      version: Type.Unsafe<VersionTerms | null>({ ...Nullable(UnnamedTerms), default: null }),
    }),
    { default: [] },
  ),
  addons: Type.Array(CreateAddon, { default: [] }),
  resource_prices: Type.Array(CreateResourcePrice, { default: [] }),
})

const validate = validatorCompiler({
  schema: CatalogDocument,
  httpPart: 'body',
  method: 'POST',
  url: 'catalog file',
}) as ReturnType<typeof validatorCompiler> & { errors?: Parameters<typeof fieldErrors>[0] | null }

export type ReadCatalog = { catalog: Catalog; faults?: undefined } | { catalog?: undefined; faults: string[] }

export function readCatalogFile(text: string): ReadCatalog {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0) {
    return {
      faults: document.errors.map(error => `line ${lines.linePos(error.pos[0]).line}: ${error.message}`),
    }
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return { faults: [(error as Error).message] }
  }
  const errors = faultsOf(value)
  if (errors.length > 0) {
    const placed = errors.map(error => placedIn(document, lines, error))
    return { faults: placed.toSorted((a, b) => a.line - b.line).map(fault => fault.text) }
  }
  return { catalog: named(value as Static<typeof CatalogDocument>) }
}

/** What has no name of its own is called by its code. */
function named({ meters, plans, addons, resource_prices }: Static<typeof CatalogDocument>): Catalog {
  const withName = <T extends { code: string; name?: string }>(entry: T) => ({
    ...entry,
    name: entry.name ?? entry.code,
  })
  return { meters: meters.map(withName), plans, addons: addons.map(withName), resource_prices }
}

/** The same file as the body of a request, whose values its schema has checked. */
export const readCatalogBody = (
  document: Static<typeof CatalogDocument>,
): { catalog: Catalog; faults: FieldError[] } => ({ catalog: named(document), faults: misfits(document) })

/** First whether every value is what it should be; only then whether they fit together. Fills in the defaults. */
function faultsOf(value: unknown): FieldError[] {
  if (validate(value) !== true) {
    // One at a time, for a list would be cut short.
    const faults = (validate.errors ?? []).flatMap(error => fieldErrors([error], 'body'))
    return [...new Map(faults.map(fault => [`${fault.pointer} ${fault.message}`, fault])).values()]
  }
  return misfits(value as Static<typeof CatalogDocument>)
}

/** Where values do not fit together. */
function misfits({ meters, plans, addons, resource_prices }: Static<typeof CatalogDocument>): FieldError[] {
  return [
    ...repeated(meters, 'meters'),
    ...meters.flatMap((meter, index) => meterErrors(meter, `/meters/${index}`)),
    ...repeated(plans, 'plans'),
    ...repeated(addons, 'addons'),
    ...plans.flatMap(({ version }, index) =>
      version ? itemErrors(version.items, `/plans/${index}/version/items`) : [],
    ),
    ...resource_prices.flatMap((price, index) => periodErrors(price, `/resource_prices/${index}`)),
    ...overlapping(resource_prices),
  ]
}

function repeated(entries: { code: string }[], list: string): FieldError[] {
  return entries.flatMap(({ code }, index) => {
    const first = entries.findIndex(entry => entry.code === code)
    return first < index
      ? [{ pointer: `/${list}/${index}/code`, message: `${code} is the code of ${list}[${first}] already` }]
      : []
  })
}

function overlapping(prices: PriceTerms[]): FieldError[] {
  return prices.flatMap((price, index) => {
    const other = prices.findIndex(
      (earlier, at) => at < index && subjectOf(earlier) === subjectOf(price) && overlap(earlier, price),
    )
    return other < 0
      ? []
      : [
          {
            pointer: `/resource_prices/${index}`,
            message: `overlaps resource_prices[${other}]: ${subjectOf(price)} would have two prices on one day`,
          },
        ]
  })
}

/** `line 12: plans[0].version.currency is required`; a field that is missing is told where it should stand. */
function placedIn(document: Document, lines: LineCounter, { pointer, message }: FieldError) {
  const path = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map(part => (/^\d+$/.test(part) ? Number(part) : part))
  const name = path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')
  const line = lineOf(path, document, lines)
  return { line, text: `line ${line}: ${name || 'the file'} ${message}` }
}

function lineOf(path: (string | number)[], document: Document, lines: LineCounter): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

/** YAML that reads as a person would write it: what says nothing (no cap, no end) is left out. */
export function writeCatalogFile(catalog: Catalog): string {
  const withoutNulls = (_key: unknown, value: unknown) => (value === null ? undefined : value)
  return stringify(catalog, withoutNulls, { lineWidth: 0 })
}
