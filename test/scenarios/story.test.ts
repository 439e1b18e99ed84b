// The README's story, run as it stands there: on the embedded engine, and on PostgreSQL with two API and two worker processes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSandboxFinance } from '../../sandbox/finance/server.ts'
import { createSandboxProvider, SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import {
  onPostgres,
  preparedFolder,
  type Service,
  secrets,
  startService,
  temporaryFolder,
} from '../support/process.ts'
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
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'test',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node-compile-cache'),
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
  const [code] = await once(child, 'close')
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

if (!onPostgres) {
  test('the README’s story comes true, line by line, on the embedded engine', async t => {
    const { env, providerUrl, finance, provider } = await surroundings(t)
    const before = provider.world.shelves.droplet.size
    const service = await startService(t, { env, dataDir: preparedFolder(t) })
    const { story, run } = await tell(t, service)
    assert.deepEqual(expected(story, await run(providerUrl)), [])
    assert.ok(finance.invoices.size > 0)
    assert.ok([...finance.invoices.values()].every(({ pushes }) => pushes === 1))
    assert.equal(provider.world.shelves.droplet.size, before, 'nothing of the story is left at the provider')
  })
}

if (onPostgres) {
  const { createPostgresDatabase } = await import('../support/database.ts')

  test('the README’s story comes true on PostgreSQL with two API and two worker processes', async t => {
    const { env, providerUrl, finance } = await surroundings(t)
    const database = await createPostgresDatabase()
    t.after(() => database.drop())
    const shared = { ...env, DATABASE_URL: database.url }
    const [one, two] = await Promise.all(
      (['api', 'api', 'worker', 'worker'] as const).map(command => startService(t, { env: shared, command })),
    )
    const { story, run } = await tell(t, one!, two)
    assert.deepEqual(expected(story, await run(providerUrl)), [])
    assert.ok(finance.invoices.size > 0)
    assert.ok([...finance.invoices.values()].every(({ pushes }) => pushes === 1))
  })
}
