// cloudops catalog apply FILE [--dry-run], backtest FILE [--months N], export: over the service's HTTP API
import { readFileSync } from 'node:fs'
import {
  type Catalog,
  type CatalogDiff,
  type Change,
  catalogDiff,
  describeChange,
  type PlanItem,
  readCatalogFile,
  type StandingCatalog,
  sameTerms,
  type VersionTerms,
  writeCatalogFile,
} from '../features/catalog/index.ts'
import { backtestCatalog, formOf } from './catalog-backtest.ts'
import { type Command, CommandError, paint, print, usageError } from './command.ts'
import { type ServiceClient, serviceClient } from './service-client.ts'

export const catalog: Command = {
  usage: 'apply FILE [--dry-run] | backtest FILE [--months N] [--json | --csv] | export',
  summary:
    'Make the catalog of the running service what a file says, price the past by it, or write it as one.',
  details:
    'FILE is YAML or JSON; - reads standard input. `apply` shows the difference, then makes it: plans whose price or items ' +
    'differ get a new version, which is published; what the file does not mention stays. `--dry-run` only shows it.\n' +
    '`backtest` shows for each tenant what the last months (6, or N) came to and what they would have come to by the file; it ' +
    'changes nothing.\n' +
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). `export` writes YAML to standard output.',
  options: {
    'dry-run': { type: 'boolean' },
    months: { type: 'string' },
    json: { type: 'boolean' },
    csv: { type: 'boolean' },
  },
  async run({ positionals: [action, file, ...rest], options }) {
    const dryRun = options['dry-run'] === true
    if (action === 'backtest' && file !== undefined && rest.length === 0 && !dryRun)
      return backtestCatalog(readFile(file), formOf(options))
    if (['months', 'json', 'csv'].some(name => options[name] !== undefined))
      throw usageError('--months, --json and --csv go with `backtest` and a file')
    if (action === 'apply' && file !== undefined && rest.length === 0) return applyCatalog(file, dryRun)
    if (action === 'export' && file === undefined && !dryRun) return exportCatalog()
    throw usageError('catalog takes `apply` or `backtest` and a file, or `export`')
  },
}

async function applyCatalog(file: string, dryRun: boolean): Promise<void> {
  const wanted = readFile(file)
  const client = await serviceClient()
  const { changes, refusals } = catalogDiff(await standingCatalog(client), wanted)
  show({ changes, refusals })
  if (refusals.length > 0)
    throw new CommandError(`Nothing was changed:\n${refusals.map(refusal => `  - ${refusal}`).join('\n')}`)
  if (changes.length === 0) return print('Nothing to change.')
  if (dryRun) return print(`${counted(changes.length)} to make. Nothing was changed: this was a dry run.`)
  for (const [index, change] of changes.entries()) {
    await make(client, change).catch(error => {
      if (!(error instanceof CommandError)) throw error
      const done = `${index} of ${counted(changes.length)} made; apply the file again to go on.`
      throw new CommandError(`${describeChange(change)[0]!.text}: ${error.message}\n${done}`)
    })
  }
  print(`${counted(changes.length)} made.`)
}

function readFile(file: string): Catalog {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
  const { catalog: read, faults } = readCatalogFile(text)
  if (faults)
    throw new CommandError(`${file} is not a catalog:\n${faults.map(fault => `  - ${fault}`).join('\n')}`)
  return read
}

const COLOURS = { '+': 'green', '~': 'yellow', '-': 'red' } as const

function show({ changes }: CatalogDiff): void {
  for (const { sign, text } of changes.flatMap(describeChange)) print(paint(COLOURS[sign], `${sign} ${text}`))
}

const counted = (changes: number) => `${changes} ${changes === 1 ? 'change' : 'changes'}`

async function exportCatalog(): Promise<void> {
  const standing = await standingCatalog(await serviceClient())
  const resource_prices = standing.resource_prices.map(({ id: _, ...price }) => price)
  process.stdout.write(writeCatalogFile({ ...standing, resource_prices }))
}

const base = '/api/v1/catalog'

interface Plan {
  code: string
  name: string
  active_version: VersionTerms | null
}
type Meter = Catalog['meters'][number]
type Addon = Catalog['addons'][number]
type Price = StandingCatalog['resource_prices'][number]
type Version = VersionTerms & { version: number; status: string }

async function standingCatalog(client: ServiceClient): Promise<StandingCatalog> {
  const meters = await client.all<Meter>(`${base}/meters`)
  const plans = await client.all<Plan>(`${base}/plans`)
  const addons = await client.all<Addon>(`${base}/addons`)
  const prices = await client.all<Price>(`${base}/resource-prices`)
  // Field by field: a service newer than this command may say more than a file can.
  return {
    meters: meters.map(({ code, name, aggregation, unit, scale }) => ({
      code,
      name,
      aggregation,
      unit,
      scale,
    })),
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

async function make(client: ServiceClient, change: Change): Promise<void> {
  switch (change.do) {
    case 'create meter':
      await client.post(`${base}/meters`, change.meter)
      return
    case 'rename meter':
      await client.patch(`${base}/meters/${change.code}`, { name: change.name })
      return
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
