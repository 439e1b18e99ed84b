// npm run mutate:scope: takes every tenant guard of the source out in turn, each in a copy, and runs the tests that should
// notice, until one does. A guard that no test misses is a guard that somebody can lose: exit code 1.
//   --list        names the mutants and runs nothing
//   --only=TEXT   those whose place or words hold the text; may be given several times
//   --quick       only the tests that are likely to notice, not all others after them
//   --jobs=N      how many copies are tested at once (2)
import { spawn } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareDatabases } from '../test/support/prepare-databases.ts'
import { type Mutant, mutantsOf, routeMutant } from './mutations/guards.ts'

const root = join(import.meta.dirname, '..')
const GUARDS = 'src/kernel/http/auth.ts'
const LONGEST_MS = 900_000
const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [''] },
    jobs: { type: 'string', default: '2' },
  },
})

/** Where a noun's guards are missed first, beside its own tests. */
const KIN: Record<string, string[]> = {
  'api-keys': ['test/users/api.test.ts'],
  deployments: ['test/{subscriptions,metering,provisioning}/*.test.ts'],
  drift: ['test/tenancy/changed-hands.test.ts'],
  http: ['test/{kernel,roles,users,deployments}/*.test.ts'],
  inventory: ['test/tenancy/changed-hands.test.ts', 'test/{provisioning,billing}/api.test.ts'],
  users: ['test/{roles,api-keys}/*.test.ts'],
}
/** Who may call which route. */
const OPEN = ['test/tenancy/open-to-tenants.test.ts']
const ROUTES = [
  'test/http/authentication.test.ts',
  'test/roles/*.test.ts',
  'test/architecture/routes.test.ts',
]
const APART = ['process', 'races', 'chaos', 'support', 'fixtures', 'integrations', 'sandbox']
const REST = options.quick
  ? []
  : readdirSync(join(root, 'test'))
      .filter(folder => !APART.includes(folder))
      .map(folder => `test/${folder}/*.test.ts`)

/** Batches of files, likely ones first; none twice. */
function batchesFor({ file, is }: Mutant): string[][] {
  const noun = file.split('/')[2]!
  const own = [`test/${noun}/*.test.ts`, ...(KIN[noun] ?? [])]
  const patterns = is.includes("'caller'")
    ? [OPEN, ROUTES, own, REST]
    : [...own.map(one => [one]), [...OPEN, ...ROUTES], REST]
  const seen = new Set<string>()
  return patterns
    .map(batch =>
      globSync(batch, { cwd: root })
        .sort()
        .filter(name => !seen.has(name) && seen.add(name)),
    )
    .filter(batch => batch.length > 0)
}

function findMutants(): Mutant[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map(file => join('src', file))
    .filter(file => /^src\/(?:features|kernel)\/.*\.ts$/.test(file))
    .sort()
  return files.flatMap(file => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
}

/** Each route that is not for tenants, as the app has it. */
async function routeMutants(): Promise<Mutant[]> {
  const copy = makeCopy()
  try {
    const text = readFileSync(join(root, GUARDS), 'utf8')
    const probe = `process.stdout.write(JSON.stringify([String(route.method), route.url, route.config?.guard]) + '\\n')\n`
    const hook = "app.addHook('onRoute', route => {\n"
    writeFileSync(join(copy, GUARDS), text.replace(hook, hook + probe))
    const { output } = await run(copy, ['scripts/openapi.ts', '--check'], () => false)
    return output
      .split('\n')
      .filter(line => line.startsWith('["'))
      .map(line => JSON.parse(line) as [string, string, string])
      .filter(
        ([method, , guard]) => method !== 'HEAD' && (guard === 'platform_admin' || guard === 'operator'),
      )
      .map(([method, url]) => routeMutant(GUARDS, text, method, url))
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** The modules are shared: nothing in them is changed. */
function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cloudops-mutant-'))
  for (const name of readdirSync(root)) {
    if (name === 'node_modules') symlinkSync(join(root, name), join(copy, name))
    else if (!['.git', 'data'].includes(name)) cpSync(join(root, name), join(copy, name), { recursive: true })
  }
  return copy
}

interface Run {
  code: number | null
  output: string
}

/** Ends the process as soon as `enough` says so of what it printed. */
function run(cwd: string, args: string[], enough: (output: string) => boolean): Promise<Run> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/node-compile-cache' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  const limit = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  child.stdout.on('data', chunk => {
    output += chunk
    if (enough(output)) child.kill('SIGKILL')
  })
  return new Promise(resolve =>
    child.on('close', code => {
      clearTimeout(limit)
      resolve({ code, output })
    }),
  )
}

const FAILED = /^\s*not ok \d+ - (.*)$/m

/** The test that fails first; undefined: all pass. */
async function firstFailure(copy: string, files: string[]): Promise<string | undefined> {
  const flags = ['--max-semi-space-size=64', '--liftoff-only', '--test', '--test-isolation=none']
  const { code, output } = await run(copy, [...flags, '--test-reporter=tap', ...files], text =>
    FAILED.test(text),
  )
  const failed = FAILED.exec(output)?.[1]
  return failed ?? (code === 0 ? undefined : `the process ended with ${code}`)
}

interface Outcome {
  mutant: Mutant
  caughtBy: string | undefined
}

async function judge(copy: string, mutant: Mutant): Promise<Outcome> {
  const file = join(copy, mutant.file)
  const original = readFileSync(file, 'utf8')
  // A mutant that cannot be read would fail every test and prove nothing.
  stripTypeScriptTypes(mutant.text)
  writeFileSync(file, mutant.text)
  try {
    for (const batch of batchesFor(mutant)) {
      const caughtBy = await firstFailure(copy, batch)
      if (caughtBy !== undefined) return { mutant, caughtBy }
    }
    return { mutant, caughtBy: undefined }
  } finally {
    writeFileSync(file, original)
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
const shown = ({ file, line, was, is }: Mutant) => `${file}:${line}  ${oneLine(was)} → ${oneLine(is)}`
const say = (text: string) => process.stdout.write(`${text}\n`)

const started = Date.now()
const found = [...findMutants(), ...(await routeMutants())]
const mutants = found.filter(mutant => options.only.some(text => shown(mutant).includes(text)))
if (options.list) {
  for (const mutant of mutants) say(shown(mutant))
  say(`${mutants.length} mutants`)
  process.exit(0)
}

await prepareDatabases()
const copies = Array.from({ length: Number(options.jobs) }, makeCopy)
const outcomes: Outcome[] = []
try {
  // Without a mutant every test passes, or nothing below means anything.
  const all = [...new Set(mutants.flatMap(mutant => batchesFor(mutant).flat()))]
  const broken = await firstFailure(copies[0]!, all)
  if (broken !== undefined) throw new Error(`without any mutant this fails: ${broken}`)
  const waiting = [...mutants]
  await Promise.all(
    copies.map(async copy => {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const outcome = await judge(copy, mutant)
        outcomes.push(outcome)
        say(`${outcome.caughtBy === undefined ? 'SURVIVED' : 'caught  '}  ${shown(mutant)}`)
        if (outcome.caughtBy !== undefined) say(`            ${outcome.caughtBy}`)
      }
    }),
  )
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
}
const survivors = outcomes.filter(({ caughtBy }) => caughtBy === undefined)
say(
  `${outcomes.length} mutants, ${survivors.length} survived, ${Math.round((Date.now() - started) / 60_000)} minutes`,
)
for (const { mutant } of survivors) say(`  ${shown(mutant)}`)
process.exitCode = survivors.length > 0 ? 1 : 0
