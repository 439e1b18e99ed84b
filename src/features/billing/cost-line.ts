// What a cost line looks like, in the API and in the tables, and the rules of what it says: what it is for, whether it is
// tax, and how it is known again in a later file of the same invoice.
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { Type } from 'typebox'
import { type Kind, kindNames } from '../../integrations/digitalocean/index.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { monthOf } from '../../kernel/time.ts'
import { Currency, Decimal, Minor, Period } from './invoice.ts'

export const CostLine = noun(
  'CostLine',
  {
    id: Id,
    invoice_id: Id,
    period: Period,
    line_number: Type.Integer({ description: 'Where it stands in the invoice’s file.' }),
    product: Type.String(),
    group_description: Nullable(Type.String()),
    description: Type.String(),
    kind: Type.String({
      description: 'A kind of the inventory, where the product is one; else a short name of the product.',
    }),
    resource_id: Nullable(Id),
    deployment_id: Nullable(Id),
    tenant_id: Nullable(Type.String()),
    matched_by: Nullable(
      Type.Enum(['auto', 'hand'], { description: 'By kind and name, or by an operator; null: unmatched.' }),
    ),
    hours: Nullable(Decimal),
    start_at: Nullable(Time),
    end_at: Nullable(Time),
    amount: Decimal,
    amount_minor: Minor('Rounded, half away from zero.'),
    currency: Currency,
    project_name: Nullable(Type.String()),
    category: Nullable(Type.String()),
    is_tax: Type.Boolean(),
    tax_flagged: Type.Boolean({
      description:
        'Tax by its description but not by its product, or by its product but not by its description.',
    }),
    extra: Type.Record(Type.String(), Type.String(), {
      description: 'Columns of the file that are not known.',
    }),
  },
  { hours: '$.hours::text', amount: '$.amount::text', extra: `coalesce($.extra, '{}')` },
)

/** `line_number` is where it stands in the file; `matched` is worked out by the database. */
export type CostLineRow = Row<'cloud_cost_lines'>
export type LineAssignmentRow = Row<'cloud_line_assignments'>

/** Whom a line is for. */
export type Assignment = Pick<LineAssignmentRow, 'resource_id' | 'deployment_id' | 'tenant_id'>

/** What the file says of a line; whose it is comes later. */
export type InvoiceLine = Omit<
  CostLineRow,
  'id' | 'invoice_id' | 'period' | 'currency' | keyof Assignment | 'matched_by' | 'matched'
>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_cost_lines: { extra: Record<string, string> | null; matched_by: 'auto' | 'hand' | null }
  }
}

/** When a line ended: with its month, where its file does not say. */
export const endOf = ({ end_at, period }: Pick<CostLineRow, 'end_at' | 'period'>): string =>
  end_at ?? monthOf(period).end_at

// The specification's rule, which takes a droplet named `taxi-api` for tax; such a line is flagged for a person to see.
export const isTax = (description: string): boolean => /gst|tax/i.test(description)

/** The description and the provider's own product disagree on whether it is tax. */
export const isDoubtfulTax = (description: string, product: string): boolean =>
  isTax(description) !== (kindOf(product) === 'tax')

/** The products of each kind: of the inventory's, and of others with a shorter name. */
const PRODUCTS = {
  droplet: ['droplets', 'gpu droplets'],
  volume: ['volumes', 'block storage'],
  snapshot: ['snapshots', 'droplet snapshots', 'volume snapshots'],
  image: ['images', 'custom images'],
  load_balancer: ['load balancers'],
  reserved_ip: ['floating ips', 'reserved ips'],
  database: ['databases', 'database clusters', 'managed databases'],
  kubernetes_cluster: ['kubernetes', 'kubernetes clusters'],
  app: ['app platform', 'apps'],
  registry: ['container registry', 'container registry subscription'],
  domain: ['domains'],
  // Not its droplet, though it bears the droplet's name.
  backup: ['backups', 'droplet backups'],
  tax: ['taxes'],
  credit: ['credits'],
} satisfies Partial<Record<Kind | 'backup' | 'tax' | 'credit', string[]>>

const KINDS = new Map(
  Object.entries(PRODUCTS).flatMap(([kind, products]) => products.map(product => [product, kind] as const)),
)
const INVENTORY: ReadonlySet<string> = new Set(kindNames)
const LONGEST_KIND = 64
const MOST_REMEMBERED = 1_000
const remembered = new Map<string, string>()

/** A kind of the inventory where the product is one; else a slug of the product. */
export function kindOf(product: string): string {
  const known = remembered.get(product)
  if (known !== undefined) return known
  const words = product.trim().toLowerCase().replace(/\s+/g, ' ')
  const kind = KINDS.get(words) ?? slugOf(words)
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(product, kind)
  return kind
}

function slugOf(words: string): string {
  const slug = words
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, LONGEST_KIND)
    .replace(/^_|_$/g, '')
  // A product nobody mapped must not pass for a resource: its lines would be matched to a stranger of that name.
  return slug === '' || INVENTORY.has(slug) ? `other_${slug}` : slug
}

/**
 * What a description of the form `name (size)` calls the resource; null for lines that are no resource's, and where there
 * is no name.
 */
export function nameOf(kind: string, description: string): string | null {
  if (!INVENTORY.has(kind)) return null
  if (kind === 'reserved_ip') return addressOf(description)
  // By hand, for a pattern that finds the last parentheses can take quadratic time.
  const close = description.lastIndexOf(')')
  const open = description.lastIndexOf('(', close)
  if (open < 1 || !isEnd(description.slice(close + 1).trim())) return null
  return description.slice(0, open).trim() || null
}

/** Volumes read `name (region) 100GB`. */
const isEnd = (rest: string) => rest === '' || (rest.length < 24 && /^[\d.,]+ ?[KMGT]i?B$/i.test(rest))

/** Addresses read `Unused Floating IP - 1.1.1.1`; an address is called by itself. */
const addressOf = (description: string): string | null =>
  description.split(/[\s()]+/).find(word => isIP(word) !== 0) ?? null

/** Everything that says what was charged for, nothing of how much. */
type Identity = Pick<
  CostLineRow,
  'product' | 'group_description' | 'description' | 'start_at' | 'end_at' | 'project_name'
>

/** By what a line is known again in a later file. Lines that say the same are told apart by their order. */
export function lineKey(line: Identity): string {
  const { product, group_description, description, start_at, end_at, project_name } = line
  const words = JSON.stringify([product, group_description, description, start_at, end_at, project_name])
  return createHash('sha256').update(words).digest('hex')
}

/**
 * What operators assigned lines of an invoice to, to be asked for every line of a new file, in its order: a line is the
 * same when it says the same and is as many lines down among those that do.
 */
export function handAssigned(rows: LineAssignmentRow[]): (line: Identity) => Assignment | undefined {
  // Most invoices have none, and none of their lines then needs a key.
  if (rows.length === 0) return () => undefined
  const assignments = new Map(rows.map(row => [`${row.line_key}:${row.occurrence}`, row]))
  // Only keys that were assigned are counted: what is remembered does not grow with the file.
  const seen = new Map(rows.map(row => [row.line_key, 0]))
  return line => {
    const key = lineKey(line)
    const before = seen.get(key)
    if (before === undefined) return undefined
    seen.set(key, before + 1)
    return assignments.get(`${key}:${before + 1}`)
  }
}
