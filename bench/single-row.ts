// How the single-row reads are measured: the service and the bare route, each in its own process, on the same row. Both
// answer the same body; that is checked before anything is measured.
import { deepStrictEqual } from 'node:assert'
import { newId } from '../src/kernel/ids.ts'
import { query } from './databases.ts'
import type { Bench, Measurement } from './figure.ts'
import { type Load, type Round, underLoad } from './load.ts'
import { alternate, median, type Pair } from './rounds.ts'
import { startServer } from './server-process.ts'
import { headersFor, POOL_SIZE, serviceEnvironment } from './service-environment.ts'

const PATH = '/api/v1/admin/scheduled_tasks/housekeeping'
const ROUNDS = 7
// The service has several times the bare route's code for the compiler to get through; both get the same time.
const WARM_UP = { connections: 32, seconds: 10 }
const ROUND = { connections: 32, seconds: 2 }

export const MEASURES = `\`GET ${PATH}\` through the service: JWT, role, validation, rate limit, security headers, CORS, request log, metrics.`

export async function measureRead(
  { database, say }: Bench,
  { prepared }: { prepared: boolean },
): Promise<Measurement> {
  const url = await database()
  const environment = serviceEnvironment(url)
  const service = await startServer('service.ts', environment)
  const headers = await headersFor(environment.JWT_SECRET, { role: 'platform_admin' })
  await addRun(url)
  const body = await bodyOf(service.url, headers)
  const bare = await startServer('bare-scheduled-task.ts', {
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: POOL_SIZE,
    NEXT_RUN_AT: body.data.next_run_at,
    PREPARED: prepared ? 'yes' : 'no',
  })
  deepStrictEqual(await bodyOf(bare.url, headers), body)

  const load = (shape: Pick<Load, 'connections' | 'seconds'>): Load => ({ path: PATH, headers, ...shape })
  say(`warming both up, then ${ROUNDS} rounds of ${ROUND.seconds} s each`)
  await underLoad(service, load(WARM_UP))
  await underLoad(bare, load(WARM_UP))
  const rounds = await alternate(
    ROUNDS,
    () => underLoad(service, load(ROUND)),
    () => underLoad(bare, load(ROUND)),
  )
  await service.stop()
  await bare.stop()
  return {
    ours: median(rounds.map(({ ours }) => ours.perSecond)),
    peer: median(rounds.map(({ peer }) => peer.perSecond)),
    details: details(rounds),
  }
}

function details(rounds: Pair<Round>[]): string[] {
  const cpu = (side: keyof Pair<Round>) => median(rounds.map(pair => pair[side].cpuMicrosecondsPerRequest))
  return [
    `${ROUND.connections} connections, pools of ${POOL_SIZE}, ${ROUNDS} alternating rounds of ${ROUND.seconds} s after ${WARM_UP.seconds} s of warming up; medians. Each server is a process of its own; the load and PostgreSQL share the machine with both. The service logs at \`info\`, to nowhere.`,
    '',
    `Processor time of the server's own process for one request (median): ours ${cpu('ours').toFixed(0)} µs, peer ${cpu('peer').toFixed(0)} µs.`,
    '',
    '| Round | Ours, requests/s | Peer, requests/s | Ratio | Ours, p99 ms | Peer, p99 ms |',
    '|---:|---:|---:|---:|---:|---:|',
    ...rounds.map(
      ({ ours, peer }, index) =>
        `| ${index + 1} | ${ours.perSecond.toFixed(0)} | ${peer.perSecond.toFixed(0)} | ${(ours.perSecond / peer.perSecond).toFixed(2)} | ${ours.p99Ms} | ${peer.p99Ms} |`,
    ),
  ]
}

/** A task that has run, so that every column of the answer has something to carry. */
async function addRun(url: string): Promise<void> {
  const at = new Date().toISOString()
  await query(
    url,
    `insert into task_runs (id, task, trigger, requested_by, status, attempts, requested_at, started_at, finished_at)
     values ($1, 'housekeeping', 'manual', 'bench', 'completed', 1, $2, $2, $2)`,
    [newId(), at],
  )
}

async function bodyOf(url: string, headers: Record<string, string>) {
  const answer = await fetch(url + PATH, { headers })
  if (!answer.ok) throw new Error(`${url}${PATH} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { data: { next_run_at: string } }
}
