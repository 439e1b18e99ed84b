// cloudops import FILE [--dry-run]: customers of a file, moved in over the service's HTTP API, one after the other
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, CommandError, paint, print, usageError } from './command.ts'
import {
  type Customer,
  describeWork,
  isNothing,
  nameOf,
  type Offer,
  readCustomerFile,
  type Standing,
  type Work,
  workFor,
} from './customer-file.ts'
import { RefusedError, type ServiceClient, serviceClient, UnansweredError } from './service-client.ts'

export const importCustomers: Command = {
  usage: 'FILE [--dry-run]',
  summary: 'Move customers in from a CSV file: their deployments and subscriptions.',
  details: [
    'FILE is CSV with a header; - reads standard input. Columns: tenant_id and slug; if wanted display_name, region, created_at,',
    'plan, addons (codes, or code:quantity, with ; between them), effective_from, trial_ends_at. Dates are days or times; in the',
    'past they are a platform_admin’s to give. Lines without a plan make a deployment alone.',
    'What is there already, by tenant and slug, is left as it is: the file can be imported again, and goes on where it was. A line',
    'that cannot be imported is named with the reason, and the others are; then the command ends with 1. `--dry-run` only shows it.',
  ].join('\n'),
  options: { 'dry-run': { type: 'boolean' } },
  async run({ positionals: [file, ...rest], options }) {
    if (file === undefined || rest.length > 0) throw usageError('import takes a file')
    await importFile(file, options['dry-run'] === true)
  },
}

async function importFile(file: string, dryRun: boolean): Promise<void> {
  const { customers, faults } = readFile(file)
  const client = await serviceClient()
  const standing = await standingOf(client)
  const offer = await offerOf(client)
  const counts = { made: 0, there: 0, failed: 0 }
  const tell = (line: number, name: string, sign: keyof typeof COLOURS, text: string) =>
    print(paint(COLOURS[sign], `${sign} line ${line}  ${name}  ${text}`))
  const entries = [...faults, ...customers].sort((one, other) => one.line - other.line)
  for (const entry of entries) {
    const name = 'name' in entry ? entry.name : nameOf(entry)
    try {
      if ('message' in entry) throw new CommandError(entry.message)
      const work = workFor(entry, await detailOf(client, entry, standing.get(name)), offer)
      if (typeof work === 'string') throw new CommandError(work)
      if (!isNothing(work) && !dryRun) await make(client, work)
      counts[isNothing(work) ? 'there' : 'made']++
      tell(entry.line, name, isNothing(work) ? '=' : '+', describeWork(work))
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      counts.failed++
      tell(entry.line, name, '!', error.message)
      // Nobody answers any more: the rest would fail alike.
      if (error instanceof UnansweredError) throw error
    }
  }
  const done = dryRun ? 'to make. Nothing was changed: this was a dry run' : 'made'
  print(`${counts.made} ${done}; ${counts.there} there already; ${counts.failed} failed.`)
  if (counts.failed > 0) throw new CommandError('Mend the lines with ! and import the file again.')
}

const COLOURS = { '+': 'green', '=': 'dim', '!': 'red' } as const

function readFile(file: string) {
  try {
    return readCustomerFile(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

const base = '/api/v1/deployments'

interface Deployment {
  id: string
  tenant_id: string
  slug: string
  subscription?: { plan_code: string } | null
}

/** Ids of deployments by tenant and slug. */
async function standingOf(client: ServiceClient): Promise<Map<string, string>> {
  const deployments = await client.all<Deployment>(base)
  return new Map(deployments.map(deployment => [nameOf(deployment), deployment.id]))
}

async function offerOf(client: ServiceClient): Promise<Offer> {
  const plans = await client.all<{ code: string; active_version: object | null }>('/api/v1/catalog/plans')
  const addons = await client.all<{ code: string }>('/api/v1/catalog/addons')
  return {
    plans: new Set(plans.filter(({ active_version }) => active_version !== null).map(({ code }) => code)),
    addons: new Set(addons.map(({ code }) => code)),
  }
}

async function detailOf(
  client: ServiceClient,
  { subscription }: Customer,
  id: string | undefined,
): Promise<Standing | undefined> {
  if (id === undefined) return undefined
  if (!subscription) return { id, plan: null }
  const { data } = await patiently(() => client.get<{ data: Deployment }>(`${base}/${id}`))
  return { id, plan: data.subscription?.plan_code ?? null }
}

async function make(client: ServiceClient, { customer, deployment, subscribe }: Work): Promise<void> {
  const { tenant_id, slug, fields, subscription } = customer
  const id =
    deployment === 'make' ? (await post(client, base, { tenant_id, slug, ...fields })).id : deployment.id
  if (subscribe && subscription) await post(client, `${base}/${id}/subscribe`, subscription)
}

/** Under a key of its own: should the answer be lost, the request is sent again and has its effect once. */
async function post(client: ServiceClient, path: string, body: object): Promise<{ id: string }> {
  const key = randomUUID()
  const { data } = await patiently(() => client.post<{ data: { id: string } }>(path, body, key))
  return data
}

const TRIES = 5

/** Waits where the service asks for it, and a second where it does not answer. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await ask()
    } catch (error) {
      const seconds =
        error instanceof UnansweredError ? 1 : error instanceof RefusedError ? error.retryAfter : undefined
      if (seconds === undefined || tried === TRIES) throw error
      await pause(seconds * 1_000)
    }
  }
}
