// A primary and its synchronous standby: what was acknowledged is on both, so that nothing is lost when one takes the
// other's place.

import pg from 'pg'
import { startPostgres, type ThrowawayPostgres } from '../../../scripts/throwaway-postgres.ts'
import { eventually } from '../../support/eventually.ts'
import type { Owner } from '../../support/lasting.ts'

export interface Cluster {
  /** Of the server that is written to now. */
  url(): string
  /** A crash and a start. */
  restart(awayMs: number): Promise<void>
  /**
   * The primary dies and the standby takes its place; `point` is called when clients are to go there, before or after it
   * may be written to. A new standby is built meanwhile.
   */
  failOver(point: (url: string) => void, early: boolean): Promise<void>
  /** One row of figures from the server that is written to. */
  ask<T extends pg.QueryResultRow>(text: string): Promise<T[]>
}

const SETTINGS = ['synchronous_commit=on', 'wal_keep_size=256MB', 'wal_retrieve_retry_interval=200ms']
const SYNCHRONOUS = "select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'"
const STREAMING = "select 1 from pg_stat_replication where state = 'streaming'"

export async function startCluster(owner: Owner): Promise<Cluster> {
  const servers = new Set<ThrowawayPostgres>()
  owner.after(async () => {
    for (const server of servers) await server.remove()
  })
  const begin = async (standbyOf?: ThrowawayPostgres) => {
    const server = await startPostgres({ settings: SETTINGS, standbyOf })
    servers.add(server)
    return server
  }
  const retire = async (server: ThrowawayPostgres) => {
    servers.delete(server)
    await server.remove()
  }
  let primary = await begin()
  let standby: ThrowawayPostgres
  const ask = <T extends pg.QueryResultRow>(text: string) => askOf<T>(primary.url, text)

  // Not before the standby follows: until then every commit would wait for it.
  const follow = async () => {
    standby = await begin(primary)
    await when(STREAMING)
    await ask("alter system set synchronous_standby_names = '*'")
    await ask('select pg_reload_conf()')
    await when(SYNCHRONOUS)
  }
  const when = (condition: string) =>
    eventually(condition, async () => (await ask(condition).catch(() => [])).length > 0)
  await follow()

  return {
    url: () => primary.url,
    ask,
    async restart(awayMs) {
      await primary.stop('immediate')
      await new Promise(resolve => setTimeout(resolve, awayMs))
      await primary.start()
      await when(SYNCHRONOUS)
    },
    async failOver(point, early) {
      await when(SYNCHRONOUS)
      const old = primary
      await old.stop('immediate')
      if (early) point(standby.url)
      await standby.promote()
      primary = standby
      point(primary.url)
      await retire(old)
      await follow()
    },
  }
}

async function askOf<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<T>(text)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
