// What the campaigns that run in one process share: their counts and their database.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import type { Engine } from '../src/kernel/db/engine.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { openPostgres } from '../src/kernel/db/postgres.ts'

export function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is no count`)
  return Number(text)
}

/** A database of the campaign's own on this server. */
export async function ownDatabase(url: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `chaos_${randomBytes(6).toString('hex')}`
  const run = async (text: string) => {
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(text).finally(() => admin.end())
  }
  await run(`create database ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return { url: own.href, drop: () => run(`drop database ${name} with (force)`) }
}

/** On PostgreSQL, where there is one, in a database of the campaign's own that is gone afterwards; else in memory. */
export async function openEngine(
  url: string | undefined,
  poolSize: number,
): Promise<{ engine: Engine; close(): Promise<void> }> {
  if (!url) {
    const engine = await openPglite({})
    return { engine, close: () => engine.close() }
  }
  const database = await ownDatabase(url)
  const engine = openPostgres({ url: database.url, poolSize, log: pino({ level: 'silent' }) })
  const close = async () => {
    await engine.close()
    await database.drop()
  }
  return { engine, close }
}
