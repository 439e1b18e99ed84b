// How the sweeps are measured: ours and the hand-written merge, each in its own process on its own database, over the
// same generated droplets. Both must leave the same rows and events; that is checked after everything is measured.
import { deepStrictEqual } from 'node:assert'
import { query } from './databases.ts'
import type { Bench, Measurement } from './figure.ts'
import { alternate, median } from './rounds.ts'
import { serviceEnvironment } from './service-environment.ts'
import { startWorker } from './worker-process.ts'
import type { Merged } from './workers/hand-written-merge.ts'
import type { Sweep, Swept } from './workers/inventory-sweep.ts'

const DROPLETS = 100_000
const WARM_UP = 2
const ROUNDS = 5

export const PEER =
  'the same merge written by hand as one SQL statement (insert, update, touch, strike, delete, events) over the same rows, staged by COPY into a temporary table. The rows are handed to it mapped and fingerprinted; ours does both in its time.'

export const sweeper = (url: string, droplets: number, more: Record<string, string> = {}) =>
  startWorker<Sweep, Swept>('inventory-sweep.ts', {
    ...serviceEnvironment(url),
    DROPLETS: String(droplets),
    ...more,
  })

/** As after autovacuum, which would otherwise start in the middle of some round. */
export const settle = (url: string) => query(url, 'vacuum analyze cloud_resources')

export async function measureSweep({ database, say }: Bench, sweep: Sweep): Promise<Measurement> {
  const sides = { ours: await database(), peer: await database() }
  say(`filling two databases with ${DROPLETS.toLocaleString('en-US')} droplets each`)
  // Both are filled by the service, so that neither starts with a better laid out table.
  const ours = sweeper(sides.ours, DROPLETS)
  await ours.ask({ changePercent: 0 })
  const filler = sweeper(sides.peer, DROPLETS)
  await filler.ask({ changePercent: 0 })
  await filler.stop()
  const peer = startWorker<Sweep, Merged>('hand-written-merge.ts', {
    DATABASE_URL: sides.peer,
    DROPLETS: String(DROPLETS),
  })

  const oursOnce = async () => {
    await settle(sides.ours)
    return ours.ask(sweep)
  }
  const peerOnce = async () => {
    await settle(sides.peer)
    return peer.ask(sweep)
  }
  say(`warming both up, then ${ROUNDS} rounds`)
  await alternate<object>(WARM_UP, oursOnce, peerOnce)
  const rounds = (await alternate<Swept | Merged>(ROUNDS, oursOnce, peerOnce)) as {
    ours: Swept
    peer: Merged
  }[]
  await ours.stop()
  await peer.stop()
  deepStrictEqual(await contentOf(sides.ours), await contentOf(sides.peer))

  const ms = median(rounds.map(round => round.ours.ms))
  const statementMs = median(rounds.map(round => round.peer.statementMs))
  return {
    ours: ms,
    peer: median(rounds.map(round => round.peer.ms)),
    details: [
      `${ROUNDS} alternating rounds after ${WARM_UP} of warming up, a \`VACUUM ANALYZE\` before each; medians. Making the provider’s pages is not in ours; mapping, fingerprinting, the ledger’s progress, the brake and finishing the run are. PostgreSQL shares the machine with both.`,
      '',
      `The peer’s statement alone, its rows being in the database already: ${statementMs.toFixed(0)} ms, so ours ÷ that: ${(ms / statementMs).toFixed(2)}.`,
      '',
      '| Round | Ours, ms | Peer, ms | Ratio | Of the peer’s, its statement, ms |',
      '|---:|---:|---:|---:|---:|',
      ...rounds.map(
        ({ ours, peer }, index) =>
          `| ${index + 1} | ${ours.ms.toFixed(0)} | ${peer.ms.toFixed(0)} | ${(ours.ms / peer.ms).toFixed(2)} | ${peer.statementMs.toFixed(0)} |`,
      ),
    ],
  }
}

/** Everything but the ids and times, which each side makes for itself. */
function contentOf(url: string): Promise<unknown[]> {
  return query(
    url,
    `select md5(string_agg(concat_ws('|', r.provider_id, r.name, r.region, r.status, r.tags, r.attrs, r.fingerprint,
        r.stale_strike_count, r.deleted_at is null), e'\\n' order by r.provider_id)) as resources,
      (select md5(string_agg(concat_ws('|', o.provider_id, e.kind, e.changes), e'\\n' order by o.provider_id, e.id))
        from cloud_resource_events e join cloud_resources o on o.id = e.resource_id) as events
     from cloud_resources r`,
  )
}
