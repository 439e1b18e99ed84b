// The README's story, run as it stands there: on the embedded engine, and on PostgreSQL with two API and two worker processes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { createSandboxFinance } from '../../sandbox/finance/server.ts'
import { createSandboxProvider, SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { needsPostgres, onEmbeddedAlone } from '../support/engine.ts'
import { needsPgbouncer, pgbouncerVersion, startPgbouncer } from '../support/pgbouncer.ts'
import { preparedFolder, type Service, secrets, startService, temporaryFolder } from '../support/process.ts'
import { SECRET } from '../support/tokens.ts'

const root = join(import.meta.dirname, '../..')

/** A command and, where the README says so, what it prints. */
interface Line {
  command: string
  prints?: string
}

function storyOfTheReadme(): Line[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const section = readme.split('\n## ').find(part => part.startsWith('The whole story\n')) ?? ''
  const lines: Line[] = []
  for (const [, block = ''] of section.matchAll(/```sh\n(.*?)```/gs)) {
    for (const line of block.trimEnd().split('\n')) {
      if (line.startsWith('# → ')) lines.at(-1)!.prints = line.slice('# → '.length)
      else lines.push({ command: line })
    }
  }
  return lines
}

async function surroundings(t: TestContext) {
  // Slow enough for a cancel to find the second droplet still being made.
  const provider = createSandboxProvider({ rateLimits: false, actionDelayMs: 1_500 })
  const finance = createSandboxFinance({ secret: SECRET })
  const [providerUrl, financeUrl] = [(await provider.listen()).url, (await finance.listen()).url]
  t.after(async () => {
    await provider.close()
    await finance.close()
  })
  const env = {
    DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
    DIGITALOCEAN_API_URL: providerUrl,
    FINANCE_URL: financeUrl,
    LOG_LEVEL: 'warn',
  }
  return { env, providerUrl, finance, provider }
}

/** It takes one minute; a line that waits for ever is then shown, and not only that the test took too long. */
const LONGEST_STORY_MS = 240_000

/** Runs the lines in one shell, where `npx cloudops` is the service's own launcher, and says what each printed. */
async function run(
  t: TestContext,
  story: Line[],
  urls: { service: string; provider: string; other?: string },
): Promise<string[]> {
  const mark = (index: number) => `--- ${index} ---`
  const script = [
    'set -eu',
    `npx() { shift; "${process.execPath}" "${join(root, 'bin/cloudops.js')}" "$@"; }`,
    ...story.flatMap(({ command }, index) => [
      `printf '%s\\n' '${mark(index)}'`,
      // Every other request goes to the other node, as behind a balancer.
      ...(urls.other ? [`export CLOUDOPS_URL=${index % 2 === 0 ? urls.service : urls.other}`] : []),
      command
        .replaceAll('http://127.0.0.1:4007', urls.provider)
        .replaceAll('examples/', `${join(root, 'examples')}/`),
    ]),
  ].join('\n')
  const child = spawn('sh', ['-c', script], {
    cwd: temporaryFolder(t),
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'test',
      CLOUDOPS_URL: urls.service,
      ...secrets,
    },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  // With the command that it waits for, which would keep the output open.
  const limit = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), LONGEST_STORY_MS)
  const [code] = await once(child, 'close')
  clearTimeout(limit)
  const printed = story.map((_, index) => {
    const [, rest = ''] = stdout.split(`${mark(index)}\n`)
    return rest.split(`${mark(index + 1)}\n`)[0]!.trimEnd()
  })
  const reached = printed.findLastIndex((_, index) => stdout.includes(mark(index)))
  assert.equal(code, 0, `${story[reached]?.command}\n${printed[reached]}\n${stderr}`)
  return printed
}

/** What the clock starts by itself would come between the story's own sweeps; what is asked for runs all the same. */
async function tell(t: TestContext, service: Service, other?: Service) {
  const tasks = '/api/v1/admin/scheduled_tasks'
  for (const { name } of (await service.call('GET', tasks)).body.data) {
    if (name !== 'saga_rescue')
      assert.equal((await service.call('POST', `${tasks}/${name}/pause`)).status, 200)
  }
  const story = storyOfTheReadme()
  assert.ok(story.length > 40, 'the README tells the story')
  return {
    story,
    run: (provider: string) => run(t, story, { service: service.url, provider, other: other?.url }),
  }
}

const expected = (story: Line[], printed: string[]) =>
  story.flatMap(({ command, prints }, index) =>
    prints === undefined || prints === printed[index] ? [] : [{ command, prints, printed: printed[index] }],
  )

test('the README’s story comes true, line by line, on the embedded engine', onEmbeddedAlone, async t => {
  const { env, providerUrl, finance, provider } = await surroundings(t)
  const before = provider.world.shelves.droplet.size
  const service = await startService(t, { env, dataDir: preparedFolder(t) })
  const { story, run } = await tell(t, service)
  assert.deepEqual(expected(story, await run(providerUrl)), [])
  assert.ok(finance.invoices.size > 0)
  assert.ok([...finance.invoices.values()].every(({ pushes }) => pushes === 1))
  assert.equal(provider.world.shelves.droplet.size, before, 'nothing of the story is left at the provider')
})

/** Two API and two worker processes. */
async function tellOnPostgres(t: TestContext, url: string): Promise<[Service, Service]> {
  const { env, providerUrl, finance } = await surroundings(t)
  const shared = { ...env, DATABASE_URL: url }
  const [one, two] = await Promise.all(
    (['api', 'api', 'worker', 'worker'] as const).map(command => startService(t, { env: shared, command })),
  )
  const { story, run } = await tell(t, one!, two)
  assert.deepEqual(expected(story, await run(providerUrl)), [])
  assert.ok(finance.invoices.size > 0)
  assert.ok([...finance.invoices.values()].every(({ pushes }) => pushes === 1))
  return [one!, two!]
}

test(
  'the README’s story comes true on PostgreSQL with two API and two worker processes',
  needsPostgres,
  async t => {
    const database = await createPostgresDatabase()
    t.after(() => database.drop())
    await tellOnPostgres(t, database.url)
  },
)

const pooler = `PgBouncer ${pgbouncerVersion ?? ''}`.trim()
test(
  `the README’s story comes true behind ${pooler} in transaction mode, from an empty database`,
  needsPgbouncer,
  async t => {
    const database = await createPostgresDatabase({ migrated: false })
    t.after(() => database.drop())
    // What is left to the session would show: the service counts on UTC.
    const sql = new pg.Client({ connectionString: database.url })
    await sql.connect()
    await sql.query(`alter database ${sql.database} set timezone = 'America/New_York'`)
    await sql.end()
    const nodes = await tellOnPostgres(t, await startPgbouncer(t, database.url))
    const paths = listsOfTheApi()
    const direct = await startService(t, { env: { DATABASE_URL: database.url }, command: 'api' })
    const right = new Map<string, unknown>()
    for (const path of paths) right.set(path, steady((await direct.call('GET', path)).body))
    const wrong: string[] = []
    let reads = 0
    const readOn = async () => {
      while (reads < READS) {
        const turn = reads++
        const path = paths[turn % paths.length]!
        const { status, body } = await nodes[turn % 2]!.call('GET', path)
        if (status !== 200 || !isDeepStrictEqual(steady(body), right.get(path)))
          wrong.push(`${status} ${path}`)
      }
    }
    await Promise.all(Array.from({ length: 24 }, readOn))
    t.diagnostic(`${reads - wrong.length} of ${reads} reads right, of ${paths.length} paths`)
    assert.deepEqual(wrong, [])
  },
)

const READS = 720

/** When a resource was last seen changes with every look of the workers. */
const steady = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'last_seen_at' ? undefined : value)))

/** Every path that can be read without knowing anything, but those that the clock or the token changes meanwhile. */
function listsOfTheApi(): string[] {
  const { paths } = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))
  const needsNothing = ({ get }: { get?: { parameters?: { required?: boolean }[] } }) =>
    get !== undefined && !get.parameters?.some(({ required }) => required)
  return Object.keys(paths).filter(
    path => needsNothing(paths[path]) && !/scheduled_tasks|audit_log|session|overview/.test(path),
  )
}
