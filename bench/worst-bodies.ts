// How long the worst request of every operation keeps the service from everything else: `npm run bench:bodies` sends
// them all to the running service and writes bench/BODIES.md. Twelve at once then show what they cost in memory.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Operation, resolved, worstBodies, worstQueries } from './bodies.ts'
import { databases, query } from './database.ts'
import { startService } from './process.ts'
import { surroundings } from './results.ts'

const BAR_MS = 50
const AGAIN = 2
const AT_ONCE = 12
const TOO_LARGE = 600 * 1024
/** Node takes 16 KiB of headers in all, the address among them. */
const LONGEST_QUERY = 14_000
const RESOURCE = '01980000-0000-7000-8000-000000000001'
const SECRET = 'bench-bodies'

const server = process.env.TEST_DATABASE_URL
if (!server) throw new Error('TEST_DATABASE_URL is not set: start with `npm run bench:bodies`.')
const { create, dropAll } = databases(server)
const url = await create()
const { server: service, headers } = await startService(
  url,
  { role: 'platform_admin', tenant_id: 'platform' },
  // A process of 512 MB, with a worker in it: it must stand all of this.
  { env: { WITH_WORKER: 'yes' }, nodeOptions: ['--max-old-space-size=384'] },
)
const base = service.url

const send = (method: string, path: string, body?: string) =>
  fetch(base + path, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': randomBytes(12).toString('hex') }),
    },
    body,
  })
const made = async (path: string, body: object): Promise<{ id: string }> =>
  ((await (await send('POST', path, JSON.stringify(body))).json()) as { data: { id: string } }).data

// Something for the paths to name, so that bodies that are taken reach what is behind.
await query(
  url,
  `insert into cloud_resources (id, provider, provider_id, kind, name, tags, attrs, fingerprint, first_seen_at, last_seen_at)
   values ('${RESOURCE}', 'digitalocean', '1', 'droplet', 'one', '{}', '{}', '', now(), now())`,
)
await made('/api/v1/catalog/plans', { code: 'bench', name: 'Bench' })
const deployment = await made('/api/v1/deployments', { slug: 'bench', tenant_id: 'bench' })
await made('/api/v1/catalog/meters', { code: 'bench', aggregation: 'unique', unit: 'thing' })
const webhook = await made('/api/v1/admin/webhooks', { url: 'https://example.com/', events: ['*'] })
const names: [RegExp, string][] = [
  [/(?<=inventory\/)\{id\}/, RESOURCE],
  [/(?<=deployments\/)\{id\}/, deployment.id],
  [/(?<=webhooks\/)\{id\}/, webhook.id],
  [/\{code\}/, 'bench'],
  [/\{version\}/, '1'],
  [/\{user_id\}/, 'bench'],
  [/\{name\}/, SECRET],
  [/\{\w+\}/g, RESOURCE],
]
const addressOf = (path: string) => names.reduce((address, [hole, name]) => address.replace(hole, name), path)

interface Row {
  operation: string
  limit: string
  worst: string
  first: number
  again: number
  passed: number
}

async function blockOf(work: () => Promise<unknown>) {
  await service.ask({ watch: true })
  await work()
  const { turn, residentBytes } = await service.ask({})
  return { ...turn!, residentBytes }
}

let told = 0

/** As long as they may be together, each of another thing, and never the same again. */
function thousandEvents(bytes: number): string {
  const event = (id: string) => ({
    ...{ specversion: '1.0', id, source: 'bench', type: 'bench', subject: deployment.id },
    data: { value: id },
  })
  const room = Math.floor(bytes / 1_000) - JSON.stringify(event('')).length - 2
  return JSON.stringify(
    Array.from({ length: 1_000 }, () => event(String(++told).padEnd(Math.floor(room / 2), 'x'))),
  )
}

async function measure(method: string, path: string, operation: Operation): Promise<Row> {
  const requests = new Map<string, () => Promise<Response>>()
  let limit = ''
  const sent = operation.requestBody?.content['application/json'].schema
  const schema = sent && resolved(sent, description.components.schemas)
  if (schema) {
    const refused = (await (await send(method, addressOf(path), 'x'.repeat(TOO_LARGE))).json()) as {
      detail: string
    }
    const kib = Number(/larger than (\d+) KiB/.exec(refused.detail)?.[1])
    if (!kib)
      throw new Error(`${method} ${path} took a body of ${TOO_LARGE} bytes: ${JSON.stringify(refused)}`)
    limit = `${kib} KiB`
    if (operation.operationId === 'sendUsageEvents')
      requests.set('a thousand events that count', () => send(method, path, thousandEvents(kib * 1024)))
    for (const [name, body] of worstBodies(schema, kib * 1024))
      requests.set(name, () => send(method, addressOf(path), body))
  }
  const parameters = (operation.parameters ?? []).filter(one => one.in === 'query').map(one => one.name)
  if (parameters.length > 0)
    for (const [name, text] of worstQueries(parameters, LONGEST_QUERY))
      requests.set(name, () => send(method, addressOf(path) + text))
  if (requests.size === 0) requests.set('itself', () => send(method, addressOf(path)))

  const row: Row = { operation: operation.operationId, limit, worst: '', first: 0, again: 0, passed: 0 }
  for (const [name, request] of requests) {
    const once = async () => {
      const { status, body } = await request()
      await body?.cancel()
      if (status >= 500 && status !== 503) throw new Error(`${method} ${path}, ${name}: ${status}`)
    }
    const first = await blockOf(once)
    const again: number[] = []
    for (let nth = 0; nth < AGAIN; nth++) again.push((await blockOf(once)).busyMs)
    row.again = Math.max(row.again, Math.min(...again))
    row.passed = Math.max(row.passed, first.passedMs)
    if (first.busyMs > row.first) Object.assign(row, { first: first.busyMs, worst: name })
  }
  return row
}

const description = JSON.parse(readFileSync(join(import.meta.dirname, '../docs/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}
const rows: Row[] = []
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const row = await measure(method.toUpperCase(), path, operation)
    rows.push(row)
    process.stdout.write(
      `${row.operation}: ${row.first.toFixed(1)} ms (${row.worst}), again ${row.again.toFixed(1)} ms\n`,
    )
  }
}

// Twelve at once of the largest bodies of all, again and again.
const largest = description.paths['/api/v1/inventory/{id}/desired-state']!.put!.requestBody!
const schema = resolved(largest.content['application/json'].schema, description.components.schemas)
const bodies = [...worstBodies(schema, 128 * 1024).values()]
const crowd = await blockOf(async () => {
  for (const body of bodies)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        await (await send('PUT', `/api/v1/inventory/${RESOURCE}/desired-state`, body)).body?.cancel()
      }),
    )
})
const healthy = (await fetch(`${base}/api/health`)).status
await service.stop()

const where = await surroundings(server)
await dropAll()
rows.sort((a, b) => b.first - a.first)
const over = rows.filter(row => row.first > BAR_MS)
const page = [
  '# The worst request of every operation',
  '',
  'Written by `npm run bench:bodies`. Every operation is sent bodies as large as it takes, made from its description to be',
  'dear (`bench/bodies.ts`), and queries as long as the server reads; the figure is the longest turn of the service’s event',
  'loop, in processor time of its main thread. “First” is the first request of its kind, with whatever is compiled on the',
  `way; “again” is the best of ${AGAIN} more. The bar is ${BAR_MS} ms.`,
  '',
  `${over.length === 0 ? 'No operation is over the bar.' : `OVER THE BAR: ${over.map(row => row.operation).join(', ')}.`}`,
  '',
  `${AT_ONCE} at once of the largest bodies (\`putDesiredState\`, ${bodies.length} kinds): longest turn ${crowd.busyMs.toFixed(1)} ms, resident memory`,
  `${(crowd.residentBytes / 2 ** 20).toFixed(0)} MB in a process that may hold 384 MB of objects; health answers ${healthy} afterwards.`,
  '',
  `${where.machine}; load ${where.load.toFixed(1)}; node ${where.versions.node}, PostgreSQL ${where.versions.postgresql}.`,
  '',
  '| Operation | Takes | First, ms | Again, ms | As time passed, ms | Its worst |',
  '|---|---:|---:|---:|---:|---|',
  ...rows.map(
    row =>
      `| ${row.operation} | ${row.limit} | ${row.first.toFixed(1)} | ${row.again.toFixed(1)} | ${row.passed.toFixed(1)} | ${row.worst} |`,
  ),
  '',
]
writeFileSync(join(import.meta.dirname, 'BODIES.md'), page.join('\n'))
process.stdout.write(
  `\nwritten: bench/BODIES.md; the longest turn was ${rows[0]!.first.toFixed(1)} ms (${rows[0]!.operation})\n`,
)
