// cloudops catalog apply FILE [--dry-run], cloudops catalog export
import { readFileSync } from 'node:fs'
import {
  type Catalog,
  type CatalogDiff,
  catalogDiff,
  describeChange,
  readCatalogFile,
  writeCatalogFile,
} from '../features/catalog/index.ts'
import { make, standingCatalog } from './catalog-over-http.ts'
import { type Command, CommandError, usageError } from './command.ts'
import { serviceClient } from './service-client.ts'
import { paint, print } from './terminal.ts'

export const catalog: Command = {
  usage: 'apply FILE [--dry-run] | export',
  summary: 'Make the catalog of the running service what a file says, or write it as one.',
  details:
    'FILE is YAML or JSON; - reads standard input. `apply` shows the difference, then makes it: plans whose price or items ' +
    'differ get a new version, which is published; what the file does not mention stays. `--dry-run` only shows it.\n' +
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). `export` writes YAML to standard output.',
  options: { 'dry-run': { type: 'boolean' } },
  async run({ positionals: [action, file, ...rest], options }) {
    const dryRun = options['dry-run'] === true
    if (action === 'apply' && file !== undefined && rest.length === 0) return apply(file, dryRun)
    if (action === 'export' && file === undefined && !dryRun) return exportCatalog()
    throw usageError('catalog takes `apply` and a file, or `export`')
  },
}

async function apply(file: string, dryRun: boolean): Promise<void> {
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
