// Usage events in batches of a thousand, through the whole service, beside the bare insert of the same rows.
import { deepStrictEqual } from 'node:assert'
import type { UsageEvent } from '../../src/features/usage-events/cloud-event.ts'
import { query } from '../database.ts'
import { alternate, type Bench, type Figure, type Measurement, medians, roundsTable } from '../figure.ts'
import { POOL_SIZE, startService, startWorker } from '../process.ts'
import type { Insert } from '../processes/bare-usage-insert.ts'

const EVENTS = 1_000
const BATCHES = 100
const ROUNDS = 5
// The service has many times the peer's code for the compiler to get through; both get the same rounds.
const WARM_UP = 4
const AT_ONCE = 8
const DEPLOYMENTS = 20
const SOURCE = '/gateway/fra1'

const usageEvents: Figure = {
  name: 'usage-events',
  measures: `\`POST /api/v1/usage-events\` with ${EVENTS.toLocaleString('en-US')} events in each request, through the service: JWT, JSON read strictly, each event judged, inserted once, added up by the hour, an audit entry, one durable commit.`,
  peer: 'the same rows, ready in memory, by one named `insert … on conflict do nothing` for each batch into the same table: no HTTP, no JSON, no checks, no sums.',
  unit: 'events/s',
  bar: { atLeast: 0.6 },
  measure,
}

async function measure({ database, say }: Bench): Promise<Measurement> {
  const sides = { ours: await database(), peer: await database() }
  const service = await startService(sides.ours, { role: 'platform_admin', tenant_id: 'platform' })
  // The peer's tables are made by the service too.
  await (await startService(sides.peer, {})).server.stop()
  const peer = startWorker<Insert, { ms: number }>('bare-usage-insert.ts', {
    DATABASE_URL: sides.peer,
    DATABASE_POOL_SIZE: POOL_SIZE,
  })
  const post = async (path: string, body: string) => {
    const response = await fetch(service.server.url + path, {
      method: 'POST',
      headers: { ...service.headers, 'content-type': 'application/json' },
      body,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
    return JSON.parse(text).data
  }
  await post(
    '/api/v1/catalog/meters',
    JSON.stringify({ code: 'llm_tokens', aggregation: 'sum', unit: 'token' }),
  )
  const ids: string[] = []
  for (let nth = 0; nth < DEPLOYMENTS; nth++)
    ids.push(
      (await post('/api/v1/deployments', JSON.stringify({ slug: `app-${nth}`, tenant_id: 'acme' }))).id,
    )

  const send = async (batches: UsageEvent[][]) => {
    const bodies = batches.map(bodyOf)
    const before = await service.server.ask({})
    const began = performance.now()
    const left = bodies.values()
    const sender = async () => {
      for (const body of left) {
        const answer = await post('/api/v1/usage-events', body)
        deepStrictEqual(answer, { new: EVENTS, known: 0, refused: [] })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
    const ms = performance.now() - began
    const after = await service.server.ask({})
    return { ms, cpuMs: (after.cpuMicroseconds - before.cpuMicroseconds) / 1000 / BATCHES }
  }
  const insert = (batches: UsageEvent[][]) => peer.ask({ batches, atOnce: AT_ONCE })

  say(`warming both up, then ${ROUNDS} rounds of ${BATCHES} batches`)
  for (let round = 0; round < WARM_UP; round++) {
    await send(batchesOf(round, ids))
    await insert(batchesOf(round, ids))
  }
  let [sent, inserted] = [WARM_UP, WARM_UP]
  const rounds = await alternate<{ ms: number; cpuMs: number }, { ms: number }>(
    ROUNDS,
    () => send(batchesOf(sent++, ids)),
    () => insert(batchesOf(inserted++, ids)),
  )
  await service.server.stop()
  await peer.stop()
  deepStrictEqual(await contentOf(sides.ours), await contentOf(sides.peer))
  await addedUp(sides.ours)
  const rate = ({ ms }: { ms: number }) => (BATCHES * EVENTS) / (ms / 1000)
  return {
    ...medians(rounds, rate, rate),
    details: [
      `${AT_ONCE} requests or statements at once, pools of ${POOL_SIZE}, ${ROUNDS} alternating rounds of ${BATCHES} batches for ${DEPLOYMENTS} deployments after ${WARM_UP} to warm up; medians. The bodies and the rows are made before the time begins; whoever sends them, and PostgreSQL, share the machine with both. Both sides must leave the same rows.`,
      '',
      ...roundsTable(
        ['Ours, events/s', 'Peer, events/s', 'Ratio', 'Processor time of the service for a batch, ms'],
        rounds.map(({ ours, peer }) => [
          ...[rate(ours), rate(peer), (rate(ours) / rate(peer)).toFixed(2), ours.cpuMs.toFixed(1)],
        ]),
      ),
    ],
  }
}

/** As many meters write them: ids without any order. */
const batchesOf = (round: number, ids: string[]): UsageEvent[][] =>
  Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: EVENTS }, (_, nth): UsageEvent => {
      const number = (round * BATCHES + batch) * EVENTS + nth
      const name = Math.imul(number + 1, 0x9e37_79b1) >>> 0
      return {
        ...{ tenant_id: 'acme', source: SOURCE, event_id: `${name.toString(16).padStart(8, '0')}-${number}` },
        ...{ deployment_id: ids[number % ids.length]!, meter: 'llm_tokens', at: AT[number % AT.length]! },
        ...{ value: number % 5_000, member: null },
      }
    }),
  )

/** Within the running month, whenever it is; of the running hour and the one before, as a meter sends them. */
const AT = [0, 1, 2, 3].map(minutes => new Date(Date.now() - minutes * 60_000).toISOString())

const bodyOf = (rows: UsageEvent[]): string =>
  JSON.stringify(
    rows.map(({ source, event_id, deployment_id, meter, at, value }) => ({
      ...{ specversion: '1.0', id: event_id, source, type: meter, subject: deployment_id, time: at },
      data: { value },
    })),
  )

const contentOf = (url: string) =>
  query(
    url,
    `select count(*)::int as events, sum(value)::text as value,
       md5(string_agg(md5(concat_ws('|', tenant_id, source, event_id, deployment_id, meter, iso8601(at), value)), '' order by event_id)) as rows
     from usage_events`,
  )

async function addedUp(url: string): Promise<void> {
  const [row] = await query(
    url,
    `select (select sum(total) from usage_meter_hours)::text as hours, (select sum(value) from usage_events)::text as events`,
  )
  const { hours, events } = row as { hours: string; events: string }
  deepStrictEqual(hours, events)
}

export default [usageEvents]
