// The service against an account that it has not seen, while people change that account at random: how long each change takes to
// be in the inventory, what that costs the provider, and whether anything is struck, deleted or told that should not be. In real
// time, against a service in a process of its own.
import { setTimeout as pause } from 'node:timers/promises'
import {
  createSandboxProvider,
  SANDBOX_TOKEN,
  type SandboxProvider,
} from '../../../sandbox/provider/server.ts'
import { runDue } from '../../../sandbox/world/world.ts'
import { send } from '../../support/http.ts'
import type { Owner } from '../../support/lasting.ts'
import { type Service, startService } from '../../support/process.ts'
import { randomFrom } from '../random.ts'
import { newAccount } from './account.ts'
import { type Audit, audit } from './audit.ts'
import { makeChange } from './changes.ts'
import { startFaults } from './faults.ts'
import { type Latencies, latencies, missed } from './report.ts'
import { type Change, keyOf, watchWorld } from './truth.ts'
import { type Ask, everything, type Row, startWatch } from './watch.ts'

export interface LiveOptions {
  minutes: number
  changes: number
  seed: number
  faults: boolean
  /** None: the embedded engine. */
  databaseUrl?: string
  onProgress?: (line: string) => void
}

export interface LiveReport extends Latencies {
  seed: number
  minutes: number
  resources: number
  changes: Record<string, number>
  superseded: number
  requests: Requests
  faults: { planned: number; met: number }
  sweeps: Record<string, number>
  audit: Audit
  /** What misses its bar; empty when all is well. */
  missed: string[]
}

interface Requests {
  /** To look between the sweeps, of this many that a quarter of the hour's limit allows. */
  looking: number
  a_quarter_of_the_hour: number
  most_in_a_minute: number
  a_quarter_of_the_minute: number
  /** The largest part of the limit that looking had used, as the service says. */
  largest_share: number
  /** Of the service in all: sweeps and balance too. */
  all: number
  refused: number
}

const TICK_MS = 250
/** Wait no longer for the last ones. */
const LEFT_MS = 180_000
const ACTION_MS = 2_000

export async function chaosLive(owner: Owner, options: LiveOptions): Promise<LiveReport> {
  const { seed, minutes, onProgress: say = () => {} } = options
  const random = randomFrom(seed)
  const world = newAccount(seed, new Date())
  const sandbox = createSandboxProvider({ seed: world, anyToken: true, actionDelayMs: ACTION_MS })
  const { url: providerUrl } = await sandbox.listen()
  owner.after(() => sandbox.close())
  const service = await startService(owner, {
    env: {
      ...(options.databaseUrl && { DATABASE_URL: options.databaseUrl }),
      DIGITALOCEAN_API_URL: providerUrl,
      DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'warn',
    },
  })
  const token = await service.token()
  const ask: Ask = async path => {
    const answer = send('GET', service.url + path, { token })
    const { status, body, text } = await answer.catch(error => {
      throw new Error(`${path}: ${error.message}; the service said: ${service.output().slice(-2_000)}`)
    })
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
    return body
  }

  const watch = startWatch(ask, Date.now)
  const truth = watchWorld(world, Date.now, (change: Change) => watch.changed(change))
  const rows = await firstSweep(ask, truth.now.size)
  await firstLook(service)
  watch.begin(rows, truth)
  say(`${rows.length} resources are in the inventory`)

  const doer = {
    world,
    random,
    number: counter(),
    isBusy: watch.isBusy,
    send: (method: string, path: string, body?: unknown) =>
      send(method, providerUrl + path, { token: 'somebody-else', ...(body === undefined ? {} : { body }) }),
  }
  const made: Record<string, number> = {}
  const requests = countRequests(sandbox, service)
  const lasts = minutes * 60_000
  const due = Array.from({ length: options.changes }, () => random() * lasts).sort((a, b) => a - b)
  const sweepsDue = options.faults ? [0.15, 0.35, 0.55, 0.75, 0.95].map(share => share * lasts) : []
  const faults = startFaults(sandbox, random)
  const findings: string[] = []
  const began = Date.now()
  let ticks = 0
  while (due.length > 0 || watch.pending.size > 0) {
    const passed = Date.now() - began
    if (passed > lasts + LEFT_MS) break
    if (passed > lasts) faults.end()
    runDue(world, new Date())
    while (due.length > 0 && due[0]! <= passed) {
      due.shift()
      const name = await makeChange(doer)
      made[name] = (made[name] ?? 0) + 1
    }
    if (options.faults && passed <= lasts) faults.goOn()
    if (sweepsDue.length > 0 && sweepsDue[0]! <= passed) {
      sweepsDue.shift()
      await service.call('POST', '/api/v1/admin/scheduled_tasks/resource_sync/run')
    }
    await watch.look()
    if (ticks % 40 === 0) findings.push(...(await wronglyMissing(ask, truth.now)))
    if (ticks % 20 === 0) await requests.read()
    if (ticks % 240 === 0)
      say(`${Math.round(passed / 1_000)} s: ${watch.seen.length} seen, ${watch.pending.size} not yet`)
    ticks += 1
    await pause(TICK_MS)
  }
  await requests.read()
  faults.end()
  const audited = await audit(ask, truth, watch.seen)
  const times = latencies(watch.seen)
  const used = requests.used()
  return {
    seed,
    minutes,
    resources: rows.length,
    changes: made,
    superseded: watch.superseded(),
    ...times,
    requests: used,
    faults: faults.count(),
    sweeps: await sweepsOf(ask),
    audit: audited,
    missed: [
      ...missed(times, audited, [...watch.pending.values()], used.largest_share, !options.faults),
      ...new Set(findings),
    ],
  }
}

function counter() {
  let count = 0
  return () => ++count
}

/** What the first sweep has entered, once all of it is there and has its place. */
async function firstSweep(ask: Ask, expected: number): Promise<Row[]> {
  for (;;) {
    const { data } = await ask('/api/v1/inventory/sync-runs?limit=100')
    const finished = (data as { status: string }[]).filter(({ status }) => status === 'complete')
    if (finished.length >= 15) {
      const rows = await everything(ask)
      if (rows.length >= expected) return rows
    }
    await pause(TICK_MS)
  }
}

/** Since then it is known which actions are new. */
async function firstLook(service: Service): Promise<void> {
  while ((await metric(service, 'cloudops_look_requests_total')) === 0) await pause(TICK_MS)
}

async function metric({ managementUrl }: Service, name: string): Promise<number> {
  const { text } = await send('GET', `${managementUrl}/metrics`)
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0)
}

/** What is said to be missing, or struck, and is there; asked again and again, for it may pass. */
async function wronglyMissing(ask: Ask, there: ReadonlyMap<string, unknown>): Promise<string[]> {
  const rows = await everything(ask)
  return rows.flatMap(({ kind, provider_id, missing_since, deleted_at, stale_strike_count }) =>
    (missing_since !== null || deleted_at !== null) && there.has(keyOf(kind, provider_id))
      ? [`wrongly missing, with ${stale_strike_count} strikes: ${kind} ${provider_id}`]
      : [],
  )
}

async function sweepsOf(ask: Ask): Promise<Record<string, number>> {
  const { data } = await ask('/api/v1/inventory/sync-runs?limit=200')
  const counts: Record<string, number> = {}
  for (const { status } of data as { status: string }[]) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function countRequests(sandbox: SandboxProvider, service: Service) {
  let [all, refused, share, looking, before] = [0, 0, 0, 0, 0]
  let last: unknown
  const byMinute = new Map<number, number>()
  return {
    async read() {
      const log = sandbox.requests
      const fresh = log.slice(last === undefined ? 0 : log.indexOf(last as (typeof log)[number]) + 1)
      last = log.at(-1)
      const own = fresh.filter(({ token }) => token === SANDBOX_TOKEN)
      all += own.length
      refused += own.filter(({ status }) => status === 429).length
      share = Math.max(share, await metric(service, 'cloudops_look_share'))
      const now = await metric(service, 'cloudops_look_requests_total')
      const minute = Math.floor(Date.now() / 60_000)
      byMinute.set(minute, (byMinute.get(minute) ?? 0) + now - before)
      before = now
      looking = now
    },
    used: (): Requests => ({
      looking,
      a_quarter_of_the_hour: 1_250,
      most_in_a_minute: Math.max(0, ...byMinute.values()),
      a_quarter_of_the_minute: 62,
      largest_share: share,
      all,
      refused,
    }),
  }
}
