// How the inventory's pages are measured: under load, through the whole service.
import type { Load, Round } from './load.ts'
import { median } from './rounds.ts'
import { POOL_SIZE } from './service-environment.ts'

export const PATH = '/api/v1/inventory?limit=100'
export const ROUNDS = 7
const WARM_UP = { connections: 32, seconds: 10 }
const ROUND = { connections: 32, seconds: 2 }

export const warmUp = (path: string, headers: Load['headers']): Load => ({ path, headers, ...WARM_UP })
export const round = (path: string, headers: Load['headers']): Load => ({ path, headers, ...ROUND })

export async function bodyOf(address: string, headers: Load['headers']) {
  const answer = await fetch(address, { headers })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { data: object[]; next_cursor: string | null; as_of?: object }
}

export function details(rounds: { ours: Round; peer: Round }[], [ours, peer]: [string, string]): string[] {
  const cpu = (side: 'ours' | 'peer') => median(rounds.map(pair => pair[side].cpuMicrosecondsPerRequest))
  return [
    `1,000,000 droplets in 1,000 tenants, filled by a first sweep. ${ROUND.connections} connections, pools of ${POOL_SIZE}, ${ROUNDS} alternating rounds of ${ROUND.seconds} s after ${WARM_UP.seconds} s of warming up; medians. Each server is a process of its own; the load and PostgreSQL share the machine with both. The service logs at \`info\`, to nowhere.`,
    '',
    `Processor time of the server’s own process for one request (median): ${ours} ${cpu('ours').toFixed(0)} µs, ${peer} ${cpu('peer').toFixed(0)} µs.`,
    '',
    `| Round | ${ours}, requests/s | ${peer}, requests/s | Ratio | ${ours}, p99 ms | ${peer}, p99 ms |`,
    '|---:|---:|---:|---:|---:|---:|',
    ...rounds.map(
      ({ ours, peer }, index) =>
        `| ${index + 1} | ${ours.perSecond.toFixed(0)} | ${peer.perSecond.toFixed(0)} | ${(ours.perSecond / peer.perSecond).toFixed(2)} | ${ours.p99Ms} | ${peer.p99Ms} |`,
    ),
  ]
}
