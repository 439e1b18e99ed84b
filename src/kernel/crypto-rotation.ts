// The end of a rotation of SECRET_KEY: encrypts under the first key whatever an older one has encrypted, table by table, so
// that the older one can be taken away. It may run beside the service, be killed and be run again: every write names the
// value it replaces, so that one that was changed meanwhile stays as it is, and what is done already is passed over.
import { type RawBuilder, sql } from 'kysely'
import type { Encryption } from './crypto.ts'
import type { Executor } from './db/tables.ts'
import { transaction } from './db/transaction.ts'

type Row = Record<string, string | null>

/** Where a feature keeps encrypted values. */
export interface EncryptedTable {
  table: string
  /** Its primary key, in which order it is gone through. */
  key: readonly string[]
  /** Those that hold encrypted values. */
  columns: readonly string[]
  reencrypt: Encryption['reencrypt']
  /** Where the row's values are encrypted for. */
  placeOf(row: Row): string
  /** Columns that depend on the key as well, made anew with the values. */
  derived?(row: Row): Row
}

/** How many values. */
export interface Reencryption {
  table: string
  renewed: number
  /** Under the first key already. */
  current: number
  /** By none of the keys. */
  unreadable: number
  /** Written under an older key faster than they could be renewed: some process has yet to get the first key. */
  left: number
}

interface Options {
  atATime?: number
  passes?: number
}

/** Goes through the table until there is nothing left to do: what is written meanwhile is found by the next pass. */
export async function reencryptTable(
  db: Executor,
  encrypted: EncryptedTable,
  { atATime = 100, passes = 5 }: Options = {},
): Promise<Reencryption> {
  const total: Reencryption = { table: encrypted.table, renewed: 0, current: 0, unreadable: 0, left: 0 }
  for (let pass = 1; pass <= passes; pass += 1) {
    const { stale, renewed, current, unreadable } = await goThrough(db, encrypted, atATime)
    total.renewed += renewed
    Object.assign(total, { current, unreadable, left: stale })
    if (stale === 0) break
  }
  return { ...total, current: Math.max(0, total.current - total.renewed) }
}

async function goThrough(db: Executor, encrypted: EncryptedTable, atATime: number) {
  const seen = { stale: 0, renewed: 0, current: 0, unreadable: 0 }
  for (let after: Row | undefined; ; ) {
    const rows = await listRows(db, encrypted, after, atATime)
    const changes = rows.map(row => ({ row, changed: changesTo(encrypted, row, seen) }))
    const stale = changes.filter(({ changed }) => Object.keys(changed).length > 0)
    if (stale.length > 0) {
      seen.renewed += await transaction(db, async tx => {
        let written = 0
        for (const { row, changed } of stale)
          if (await replaceValues(tx, encrypted, row, changed)) written += Object.keys(changed).length
        return written
      })
    }
    if (rows.length < atATime) return seen
    after = rows.at(-1)
  }
}

function changesTo(
  { columns, reencrypt, placeOf }: EncryptedTable,
  row: Row,
  seen: { stale: number; current: number; unreadable: number },
): Row {
  const changed: Row = {}
  for (const column of columns) {
    const value = row[column]
    if (value === null || value === undefined) continue
    try {
      const renewed = reencrypt(value, placeOf(row))
      if (renewed === null) seen.current += 1
      else {
        seen.stale += 1
        changed[column] = renewed
      }
    } catch {
      seen.unreadable += 1
    }
  }
  return changed
}

function listRows(
  db: Executor,
  { table, key, columns }: EncryptedTable,
  after: Row | undefined,
  limit: number,
): Promise<Row[]> {
  const names = refs(key)
  const beyond = after ? sql`where (${names}) > (${sql.join(key.map(name => sql`${after[name]}`))})` : sql``
  return sql<Row>`select ${refs([...key, ...columns])} from ${sql.table(table)} ${beyond} order by ${names} limit ${limit}`
    .execute(db)
    .then(({ rows }) => rows)
}

/** False when one of the values was changed since it was read. */
async function replaceValues(
  tx: Executor,
  { table, key, derived }: EncryptedTable,
  row: Row,
  changed: Row,
): Promise<boolean> {
  const set = { ...changed, ...derived?.(row) }
  const same = [...key, ...Object.keys(changed)].map(name => sql`${sql.ref(name)} = ${row[name]}`)
  const { numAffectedRows } = await sql`update ${sql.table(table)} set ${sql.join(
    Object.entries(set).map(([name, value]) => sql`${sql.ref(name)} = ${value}`),
  )} where ${sql.join(same, sql` and `)}`.execute(tx)
  return (numAffectedRows ?? 0n) > 0n
}

const refs = (names: readonly string[]): RawBuilder<unknown> => sql.join(names.map(name => sql.ref(name)))
