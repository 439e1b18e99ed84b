// Provisioning while workers are killed: an API process, several workers and a simulated provider, each a process of its
// own on one PostgreSQL. Runs are asked for, workers die by SIGKILL at random moments and are started again; afterwards
// the database and the provider are asked what became of it all.

import { setTimeout as pause } from 'node:timers/promises'
import { SANDBOX_TOKEN } from '../../sandbox/provider/server.ts'
import type { Owner } from '../support/lasting.ts'
import { type Service, spawnService, startService } from '../support/process.ts'
import { type Findings, findings } from './findings.ts'
import { randomFrom } from './random.ts'
import { startSandbox } from './sandbox.ts'

export interface ChaosOptions {
  databaseUrl: string
  runs: number
  kills: number
  seed: number
  workers?: number
  /** How long a droplet boots. */
  actionDelayMs?: number
  /** The mean time between two kills. */
  betweenKillsMs?: number
  /** After the last kill, every run must have ended within this time. */
  patienceMs?: number
  onProgress?: (line: string) => void
}

export interface ChaosReport extends Findings {
  runs: number
  kills: number
  seed: number
  seconds: number
  /** From the last kill until the last run had ended; null: some had not. */
  ended_after_last_kill_seconds: number | null
  /** What must not be, in words; empty when all is well. */
  deviations: string[]
}

const TENANTS = 6
const DEPLOYMENTS = 18
const ORDER = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' }

export async function chaosSagas(owner: Owner, options: ChaosOptions): Promise<ChaosReport> {
  const { databaseUrl, runs, kills, seed } = options
  const { workers: many = 3, actionDelayMs = 3_000, betweenKillsMs = 4_000, patienceMs = 120_000 } = options
  const say = options.onProgress ?? (() => {})
  const random = randomFrom(seed)
  const began = performance.now()
  const { providerUrl } = await startSandbox(owner, actionDelayMs)
  const env = {
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '8',
    DIGITALOCEAN_API_URL: providerUrl,
    DIGITALOCEAN_TOKEN: SANDBOX_TOKEN,
    LOG_LEVEL: 'warn',
  }
  await planFaults(providerUrl, runs)
  const api = await startService(owner, { command: 'api', env })
  const startWorker = () => spawnService(owner, { command: 'worker', env })
  const workers: Service[] = await Promise.all(
    Array.from({ length: many }, () => startService(owner, { command: 'worker', env })),
  )
  const deployments = await makeDeployments(api, runs)
  say(`${many} workers, ${deployments.length} deployments`)

  // Asking goes its own way, so that workers die at any point of a run, but not ahead of the kills: the last of them must
  // meet runs, too.
  let asked = 0
  let killed = 0
  const ask = async () => {
    for (; asked < runs; asked++) {
      const id = deployments[asked % deployments.length]
      await post(api, `/api/v1/deployments/${id}/provision`, { ...ORDER, name: `chaos-${asked}` })
      await pause(((betweenKillsMs * kills) / runs) * 1.6 * random())
      while (killed < kills && asked > ((killed + 1.5) * runs) / kills) await pause(50)
    }
  }
  const asking = ask()
  while (killed < kills) {
    await pause(betweenKillsMs * (0.2 + 1.6 * random()))
    const victim = Math.floor(random() * many)
    await workers[victim]!.kill()
    workers[victim] = await startWorker()
    killed++
    if (killed % 10 === 0 || killed === kills) say(`${killed} kills, ${asked} runs asked for`)
  }
  await asking
  const lastKill = performance.now()
  const open = async () => (await findings(databaseUrl, providerUrl)).not_ended
  let left = await open()
  while (left > 0 && performance.now() - lastKill < patienceMs) {
    await pause(500)
    left = await open()
  }
  const ended = left === 0 ? seconds(performance.now() - lastKill) : null
  const found = await findings(databaseUrl, providerUrl)
  const leaks = await leaksAfterSweep(api)
  for (const process of [...workers, api]) await process.stop()
  return {
    runs,
    kills,
    seed,
    seconds: seconds(performance.now() - began),
    ended_after_last_kill_seconds: ended,
    ...found,
    deviations: [...deviationsOf(found, runs), ...(leaks === 0 ? [] : [`${leaks} leaks are listed`])],
  }
}

const seconds = (ms: number) => Math.round(ms / 100) / 10

function deviationsOf(found: Findings, runs: number): string[] {
  const total = Object.values(found.statuses).reduce((sum, count) => sum + count, 0)
  const wrong: [string, number][] = [
    ['runs are missing', runs - total],
    ['runs have not ended', found.not_ended],
    ['steps were begun more than once', found.steps_begun_twice],
    ['droplets were ordered more than once', found.ordered_twice],
    ['rows of the ledger are out of order', found.ledger_out_of_order],
    ['droplets are left that no completed run owns', found.droplets_nobody_owns],
    ['completed runs have lost their droplet', found.droplets_lost],
    ['completed runs own no droplet', found.completed_without_droplet],
    ['places of plans are still taken by runs that have ended', found.reservations_left],
  ]
  return wrong.filter(([, count]) => count !== 0).map(([what, count]) => `${count} ${what}`)
}

/**
 * Droplets take their time to be accepted, so that workers die while they wait for the answer; and some answers are lost
 * although the work was done.
 */
async function planFaults(providerUrl: string, runs: number): Promise<void> {
  const match = { method: 'POST', path: '/v2/droplets' }
  const few = Math.ceil(runs / 30)
  for (const fault of [
    { fault: 'reset_after_commit', after: few, times: few, match },
    { fault: 'error_after_commit', after: few, times: few, match },
    { fault: 'slow_bytes', chunk_bytes: 256, every_ms: 80, times: 'always', match },
  ]) {
    const answer = await fetch(`${providerUrl}/__sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
}

/** Half of them with a plan, whose places are just enough. */
async function makeDeployments(api: Service, runs: number): Promise<string[]> {
  await post(api, '/api/v1/catalog/plans', { code: 'chaos', name: 'Chaos' })
  const items = [{ resource_kind: 'droplet', included_qty: Math.ceil(runs / DEPLOYMENTS) }]
  await post(api, '/api/v1/catalog/plans/chaos/versions', { base_price_cents: 0, currency: 'USD', items })
  await post(api, '/api/v1/catalog/plans/chaos/versions/1/publish')
  const ids: string[] = []
  for (let n = 0; n < DEPLOYMENTS; n++) {
    const body = { tenant_id: `tenant-${n % TENANTS}`, slug: `chaos-${n}` }
    const { data } = await post(api, '/api/v1/deployments', body)
    ids.push(data.id)
    if (n % 2 === 0) await post(api, `/api/v1/deployments/${data.id}/subscribe`, { plan_code: 'chaos' })
  }
  return ids
}

/** What is listed as left behind once the droplets were swept. */
async function leaksAfterSweep(api: Service): Promise<number> {
  const { data } = await post(api, '/api/v1/admin/scheduled_tasks/resource_sync/run')
  for (let look = 0; look < 240; look++) {
    const runs = await get(api, `/api/v1/inventory/sync-runs?sweep_id=${data.id}&kind=droplet`)
    if (runs.data[0]?.status === 'complete') return (await get(api, '/api/v1/sagas/leaks')).data.length
    await pause(250)
  }
  throw new Error('the droplets were not swept')
}

const post = (api: Service, path: string, body?: object) => call(api, 'POST', path, body)
const get = (api: Service, path: string) => call(api, 'GET', path)

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function call(api: Service, method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(api.url + path, {
    method,
    headers: {
      authorization: `Bearer ${await api.token()}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}
