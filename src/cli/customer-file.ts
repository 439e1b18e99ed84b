// A file of customers to move in, CSV with a header: what its lines say, and what is to be done for each beside what is there
// already. Pure: `import.ts` does it.
import { CsvError, parse } from 'csv-parse/sync'

const COLUMNS = [
  ...['tenant_id', 'slug', 'display_name', 'region', 'created_at'],
  ...['plan', 'addons', 'effective_from', 'trial_ends_at'],
] as const
type Column = (typeof COLUMNS)[number]
const REQUIRED: readonly Column[] = ['tenant_id', 'slug']

export interface AddonChoice {
  code: string
  quantity: number
}

export interface Customer {
  line: number
  tenant_id: string
  slug: string
  /** What else the deployment is made with. */
  fields: { display_name?: string; region?: string; created_at?: string }
  subscription?: {
    plan_code: string
    addons: AddonChoice[]
    effective_from?: string
    trial_ends_at?: string
  }
}

/** What is wrong with a line; the others count. */
export interface Fault {
  line: number
  name: string
  message: string
}

export interface CustomerFile {
  customers: Customer[]
  faults: Fault[]
}

export const nameOf = ({ tenant_id, slug }: Pick<Customer, 'tenant_id' | 'slug'>): string =>
  `${tenant_id}/${slug}`

/** Throws, in words, what keeps the whole file from being read. */
export function readCustomerFile(text: string): CustomerFile {
  const [header, ...records] = recordsOf(text)
  if (!header) throw new Error('the file is empty')
  const columns = header.cells.map(cell => cell.trim().toLowerCase().replaceAll(/[ -]/g, '_'))
  for (const column of columns)
    if (!COLUMNS.some(known => known === column))
      throw new Error(`there is no column ${column || '(without a name)'}: ${COLUMNS.join(', ')}`)
  for (const column of REQUIRED)
    if (!columns.includes(column)) throw new Error(`the column ${column} is missing`)
  if (new Set(columns).size < columns.length) throw new Error('a column is there twice')

  const file: CustomerFile = { customers: [], faults: [] }
  const lines = new Map<string, number>()
  for (const { line, cells } of records) {
    const value = (column: Column) => cells[columns.indexOf(column)]?.trim() || undefined
    const name = `${value('tenant_id') ?? '?'}/${value('slug') ?? '?'}`
    const fault = (message: string) => file.faults.push({ line, name, message })
    if (cells.length > columns.length) {
      fault(`has ${cells.length} fields where the header has ${columns.length}`)
      continue
    }
    const read = customerOf(line, value)
    if (typeof read === 'string') {
      fault(read)
      continue
    }
    const first = lines.get(nameOf(read))
    if (first !== undefined) fault(`is in line ${first} already`)
    else {
      lines.set(nameOf(read), line)
      file.customers.push(read)
    }
  }
  return file
}

interface CsvRecord {
  line: number
  cells: string[]
}

/** Without empty lines; each by the number of its last line. */
function recordsOf(text: string): CsvRecord[] {
  try {
    const options = { bom: true, relax_column_count: true, skip_empty_lines: true, info: true } as const
    const read = parse(text, options) as unknown as { info: { lines: number }; record: string[] }[]
    return read
      .map(({ info, record }) => ({ line: info.lines, cells: record }))
      .filter(({ cells }) => cells.some(cell => cell.trim() !== ''))
  } catch (error) {
    throw error instanceof CsvError ? new Error(error.message) : error
  }
}

/** What is wrong with it, in words. */
function customerOf(line: number, value: (column: Column) => string | undefined): Customer | string {
  const [tenant_id, slug, plan_code] = [value('tenant_id'), value('slug'), value('plan')]
  if (tenant_id === undefined) return 'has no tenant_id'
  if (slug === undefined) return 'has no slug'
  const given = <Name extends Column>(...names: Name[]): { [N in Name]?: string } =>
    Object.fromEntries(names.flatMap(name => (value(name) ? [[name, value(name)]] : []))) as never
  const fields = given('display_name', 'region', 'created_at')
  const customer = { line, tenant_id, slug, fields }
  if (plan_code === undefined) {
    const pointless = (['addons', 'effective_from', 'trial_ends_at'] as const).find(name => value(name))
    return pointless === undefined ? customer : `has ${pointless} and no plan`
  }
  const addons = addonsOf(value('addons') ?? '')
  if (typeof addons === 'string') return addons
  const dates = given('effective_from', 'trial_ends_at')
  const [made, from] = [Date.parse(fields.created_at ?? ''), Date.parse(dates.effective_from ?? '')]
  if (from < made) return `effective_from ${dates.effective_from} is before created_at ${fields.created_at}`
  return { ...customer, subscription: { plan_code, addons, ...dates } }
}

/** `extra-droplet; seat-pack:2` */
function addonsOf(text: string): AddonChoice[] | string {
  const words = text.split(/[;\s]+/).filter(word => word !== '')
  const addons: AddonChoice[] = []
  for (const word of words) {
    const [code = '', quantity = '1', ...rest] = word.split(':')
    if (code === '' || !/^[1-9]\d{0,5}$/.test(quantity) || rest.length > 0)
      return `the addon ${word} is not written as code or code:quantity`
    if (addons.some(addon => addon.code === code)) return `the addon ${code} is there twice`
    addons.push({ code, quantity: Number(quantity) })
  }
  return addons
}

/** What is sold. */
export interface Offer {
  plans: ReadonlySet<string>
  addons: ReadonlySet<string>
}

/** What is there of a customer. */
export interface Standing {
  id: string
  /** Null: not subscribed. */
  plan: string | null
}

export interface Work {
  customer: Customer
  deployment: 'make' | Standing
  subscribe: boolean
  /** What the file says otherwise and is left as it is. */
  note?: string
}

/** What is to be done for a customer, or why nothing can be. Nothing that is there is changed. */
export function workFor(customer: Customer, standing: Standing | undefined, offer: Offer): Work | string {
  const { subscription } = customer
  const deployment = standing ?? ('make' as const)
  if (!subscription) return { customer, deployment, subscribe: false }
  const { plan_code, addons } = subscription
  if (standing && standing.plan !== null) {
    const work = { customer, deployment, subscribe: false }
    if (standing.plan === plan_code) return work
    return { ...work, note: `on ${standing.plan}, not ${plan_code}: it is left as it is` }
  }
  if (!offer.plans.has(plan_code)) return `there is no plan ${plan_code} with an active version`
  const unknown = addons.find(({ code }) => !offer.addons.has(code))
  if (unknown) return `there is no addon ${unknown.code}`
  return { customer, deployment, subscribe: true }
}

/** In one line. */
export function describeWork({ customer, deployment, subscribe, note }: Work): string {
  const since = (at: string | undefined) => (at === undefined ? '' : ` since ${at}`)
  const { fields, subscription } = customer
  const parts = [
    ...(deployment === 'make' ? [`deployment${since(fields.created_at)}`] : []),
    ...(subscribe && subscription
      ? [
          [subscription.plan_code, ...subscription.addons.map(inWords)].join(' + ') +
            since(subscription.effective_from),
        ]
      : []),
  ]
  if (parts.length > 0) return parts.join(', ')
  return note === undefined ? 'there already' : `there already, ${note}`
}

const inWords = ({ code, quantity }: AddonChoice): string => (quantity === 1 ? code : `${quantity} × ${code}`)

export const isNothing = ({ deployment, subscribe }: Work): boolean => deployment !== 'make' && !subscribe
