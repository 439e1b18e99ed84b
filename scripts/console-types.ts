// Writes what the console knows of the API (console/src/generated) from docs/openapi.json: the types, and of each operation
// its path, its tag and who may call it. With --check says whether they are up to date.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Operation {
  operationId: string
  tags: string[]
  'x-callers'?: string
  'x-permission'?: string
  'x-permission-instead'?: string
}

const root = join(import.meta.dirname, '..')
const generated = join(root, 'console/src/generated')
const [typesFile, operationsFile] = [join(generated, 'api.d.ts'), join(generated, 'operations.ts')]

// Examples are re-recorded often, headers are nothing to the console, and problems all have one shape: without them
// the types are a tenth as long.
const description = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'), (key, value) => {
  if (key === 'example' || key === 'examples' || /^[345](\d\d|XX)$/.test(key)) return undefined
  return key === '200' || key === '201' || key === '202' ? { ...value, headers: undefined } : value
}) as { paths: Record<string, Record<string, Operation>> }
const text = JSON.stringify(description)
const head = `// Made from docs/openapi.json by \`npm run console:types\`: ${createHash('sha256').update(text).digest('hex')}\n`

if (process.argv.includes('--check')) {
  const stale = [typesFile, operationsFile].some(
    file => !existsSync(file) || !readFileSync(file, 'utf8').startsWith(head),
  )
  if (stale) {
    process.stderr.write(
      'console/src/generated is not what docs/openapi.json says: run `npm run console:types`.\n',
    )
    process.exitCode = 1
  }
} else {
  writeFileSync(operationsFile, head + operationsTable())
  writeFileSync(typesFile, head + types())
}

/** The generator needs an older TypeScript than this project's, and so is no dependency of it. */
function types(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-types-'))
  try {
    const [from, to] = [join(folder, 'openapi.json'), join(folder, 'api.d.ts')]
    writeFileSync(from, text)
    const packages = ['--package=openapi-typescript@7', '--package=typescript@5']
    const command = ['openapi-typescript', from, '-o', to]
    execFileSync('npm', ['exec', '--yes', ...packages, '--', ...command], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return readFileSync(to, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function operationsTable(): string {
  const rows = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, tags, 'x-callers': callers = 'anyone', 'x-permission': permission } = operation
      const instead = operation['x-permission-instead']
      const row = [
        method.toUpperCase(),
        path,
        tags[0],
        callers,
        permission ?? null,
        ...(instead ? [instead] : []),
      ]
      return `  ${operationId}: ${JSON.stringify(row)},`
    }),
  )
  return `export const operations = {\n${rows.join('\n')}\n} as const\n`
}
