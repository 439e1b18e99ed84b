// What `cloudops catalog apply` and `export` do, over the service's HTTP API.
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
import { CommandError } from './command.ts'
import { serviceClient } from './service-client.ts'
import { paint, print } from './terminal.ts'

export async function applyCatalog(file: string, dryRun: boolean): Promise<void> {
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

export async function exportCatalog(): Promise<void> {
  const standing = await standingCatalog(await serviceClient())
  const resource_prices = standing.resource_prices.map(({ id: _, ...price }) => price)
  process.stdout.write(writeCatalogFile({ ...standing, resource_prices }))
}
