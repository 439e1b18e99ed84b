// The audit log: every write that a caller's request makes, with who made it and what was there before. A feature declares
// the tables whose rows callers change (`auditedTable`) and writes them through that declaration. Entries are collected
// while the transaction runs and inserted together before it commits. Jobs act for nobody and leave no entries.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isDeepStrictEqual } from 'node:util'
import type { Insertable, Selectable, UpdateObject, WhereInterface } from 'kysely'
import { runLast, runStatement, type Statement } from './db/statement.ts'
import type { Executor, Tables } from './db/tables.ts'
import { beforeCommit, transaction } from './db/transaction.ts'
import { newId, timeOfId } from './ids.ts'

/** On whose behalf the code runs: the caller of the request that is being answered. */
export interface Actor {
  actor: string
  actor_role: string | null
  actor_tenant_id: string | null
  request_id: string
  /** What the caller itself calls the request. */
  client_request_id: string | null
  credential_kind: string
  credential_id: string
  /** The client's, as far as this process can see. */
  address: string
  /** The operation's name in the API's description. */
  operation: string
}

const storage = new AsyncLocalStorage<Actor | undefined>()

export function actAs<T>(actor: Actor, work: () => T): T {
  const known = {
    ...actor,
    actor: storable(actor.actor),
    actor_role: actor.actor_role && storable(actor.actor_role),
    actor_tenant_id: actor.actor_tenant_id && storable(actor.actor_tenant_id),
  }
  return storage.run(known, work)
}

/** For work that a request started and that is not the request's any more. */
export const actAsNobody = <T>(work: () => T): T => storage.run(undefined, work)

/** Undefined when nobody is acting. */
export const currentActor = (): Actor | undefined => storage.getStore()

/** Roles are whatever the issuer writes, and the database takes neither NUL nor half a character. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

export interface Act {
  /** What was acted on: a table's name, where there is one. */
  subjectType: string
  subjectId: string
  tenantId?: string | null
  /** What was asked for, where the operation's name does not say it all. Never a secret. */
  details?: object
}

/** For what a caller asks for without changing an audited row, such as a job: the request itself is the entry. */
export async function recordRequest(
  tx: Executor,
  { subjectType, subjectId, tenantId = null, details }: Act,
): Promise<void> {
  record(tx, subjectType, subjectId, tenantId, 'requested', null, details ?? null)
}

type Action = 'created' | 'updated' | 'deleted' | 'requested'
type Values = Record<string, unknown>

interface Entry extends Actor {
  id: string
  at: string
  subject_type: string
  subject_id: string
  tenant_id: string | null
  action: Action
  before: object | null
  after: object | null
}

function entryOf(
  actor: Actor,
  subject_type: string,
  subject_id: string,
  tenant_id: string | null,
  action: Action,
  before: object | null,
  after: object | null,
): Entry {
  const id = newId()
  // The list's `since` and `until` are spans of ids: with another time than its id's an entry would miss its own moment.
  const at = new Date(timeOfId(id)).toISOString()
  return { id, at, ...actor, subject_type, subject_id, tenant_id, action, before, after }
}

const collected = new WeakMap<Executor, Entry[]>()

function record(
  tx: Executor,
  subject_type: string,
  subject_id: string,
  tenant_id: string | null,
  action: Action,
  before: object | null,
  after: object | null,
): void {
  const actor = currentActor()
  if (!actor) return
  const entry = entryOf(actor, subject_type, subject_id, tenant_id, action, before, after)
  const entries = collected.get(tx)
  if (entries) {
    entries.push(entry)
    return
  }
  collected.set(tx, [entry])
  beforeCommit(tx, async () => {
    const made = collected.get(tx)!
    collected.delete(tx)
    await insertEntries(tx, made)
  })
}

const COLUMNS = {
  id: 'uuid',
  at: 'timestamptz',
  actor: 'text',
  actor_role: 'text',
  actor_tenant_id: 'text',
  request_id: 'text',
  client_request_id: 'text',
  credential_kind: 'text',
  credential_id: 'text',
  address: 'text',
  operation: 'text',
  subject_type: 'text',
  subject_id: 'text',
  tenant_id: 'text',
  action: 'text',
  before: 'jsonb',
  after: 'jsonb',
} satisfies Record<keyof Entry, string>

const NAMES = Object.keys(COLUMNS) as (keyof Entry)[]

const INSERT_ENTRIES = {
  name: 'audit_entries',
  text: `insert into audit_log (${NAMES.join(', ')}) select ${NAMES.map(name => `e.${name}`).join(', ')}
    from jsonb_to_recordset($1::jsonb) as e (${NAMES.map(name => `${name} ${COLUMNS[name]}`).join(', ')})`,
}

const insertEntries = (tx: Executor, entries: Entry[]) =>
  runLast(tx, INSERT_ENTRIES, [JSON.stringify(entries)])

/**
 * The entry of a statement that writes it itself, so that whatever it locks is held for no second one. `known` is SQL for the
 * columns that the statement works out, `from` what they are worked out from: no row there, no entry. The others are
 * parameters from `first` on.
 */
export function entryInStatement(
  first: number,
  known: Partial<Record<Exclude<keyof Entry, 'id'>, string>>,
  from: string,
) {
  const given = NAMES.filter(name => !(name in known))
  const parameters = given.map((name, i) => `$${first + i}::${COLUMNS[name]}`)
  return {
    /** The first parameter after its own. */
    next: first + given.length,
    sql: `insert into audit_log (${[...given, ...Object.keys(known)].join(', ')})
      select ${[...parameters, ...Object.values(known)].join(', ')} from ${from} where $${first}::uuid is not null`,
    /** Nulls when nobody acts: then there is no entry. What the statement knows is left out. */
    values(
      action: Action,
      { subjectType, subjectId = '', tenantId = null }: Partial<Act> & Pick<Act, 'subjectType'>,
    ): unknown[] {
      const actor = currentActor()
      if (!actor) return given.map(() => null)
      const entry = entryOf(actor, subjectType, subjectId, tenantId, action, null, null)
      return given.map(name => entry[name])
    },
  }
}

type Table = keyof Tables & string
type Row<T extends Table> = Selectable<Tables[T]>
type Column<T extends Table> = keyof Tables[T] & string
/** Columns and the values they must have, or conditions. */
type Where<T extends Table> =
  | Partial<Row<T>>
  | ((query: WhereInterface<Tables, T>) => WhereInterface<Tables, T>)

/** The writes of a table whose rows callers change. Outside of a transaction each is one by itself. */
export interface AuditedTable<T extends Table> {
  table: T
  /** The rows as they are stored. With `ifAbsent`, rows that those columns say are there already are left alone. */
  insert(db: Executor, rows: Insertable<Tables[T]>[], ifAbsent?: readonly Column<T>[]): Promise<Row<T>[]>
  /** The rows that were changed, as they are now. */
  update(db: Executor, where: Where<T>, changes: UpdateObject<Tables, T>): Promise<Row<T>[]>
  /** Changes the row that has the key, or inserts it. */
  upsert(
    db: Executor,
    key: readonly Column<T>[],
    row: Insertable<Tables[T]>,
    changes: UpdateObject<Tables, T>,
  ): Promise<Row<T>>
  /** The rows that are gone. */
  delete(db: Executor, where: Where<T>): Promise<Row<T>[]>
  /**
   * For statements that cannot be written with the others. Null: there was no row, or there is none any more. Of a row that
   * changed, its key, its tenant and the columns that may have changed are enough.
   */
  recordChange(tx: Executor, before: Partial<Row<T>> | null, after: Partial<Row<T>> | null): void
}

export interface AuditRules<Columns extends string> {
  /** The columns that name a row. */
  key: readonly Columns[]
  /** Columns that change along with every change, or by jobs: no change by themselves, and in no entry. */
  silent?: readonly Columns[]
  /** Columns whose values are in no entry, only that they have changed. */
  secret?: readonly Columns[]
  /**
   * All of the table's columns, for what is created often: a row that names each of them is inserted by one prepared
   * statement together with its entry, and nothing is read back.
   */
  columns?: readonly Columns[]
}

export function auditedTable<T extends Table>(
  table: T,
  { key, silent = [], secret = [], columns }: AuditRules<Column<T>>,
): AuditedTable<T> {
  const quiet = new Set<string>(silent)
  const hidden = new Set<string>(secret)
  const nameOf = (row: Values) => key.map(column => row[column]).join('/')
  const shown = (row: Values) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !quiet.has(column) && !hidden.has(column)))

  function recordChange(tx: Executor, before: Values | null, after: Values | null): void {
    const row = (after ?? before)!
    const tenant = (row.tenant_id as string | null | undefined) ?? null
    const write = (action: Action, was: object | null, is: object | null) =>
      record(tx, table, nameOf(row), tenant, action, was, is)
    if (before === null) write('created', null, shown(row))
    else if (after === null) write('deleted', shown(row), null)
    else {
      const changed = Object.keys(before).filter(
        column => !quiet.has(column) && !isDeepStrictEqual(before[column], after[column]),
      )
      const side = (values: Values, word: string) =>
        Object.fromEntries(changed.map(column => [column, hidden.has(column) ? word : values[column]]))
      if (changed.length > 0) write('updated', side(before, '(hidden)'), side(after, '(hidden, changed)'))
    }
  }

  // Kysely cannot follow a table that is a type parameter; the interface above says what goes in and out.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  type Untyped = any
  const restrict = (query: Untyped, where: Where<T>): Untyped => {
    if (typeof where === 'function') return where(query)
    return Object.entries(where).reduce(
      (q, [column, value]) => q.where(column, value === null ? 'is' : '=', value),
      query,
    )
  }

  // The row's values come first, then the entry's.
  const insertAlone: Statement | undefined = columns && {
    name: `insert_${table}`,
    text: `with made as (
        insert into ${table} (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')}))
      insert into audit_log (${NAMES.join(', ')})
      select ${NAMES.map((name, i) => `$${columns.length + i + 1}::${COLUMNS[name]}`).join(', ')}`,
  }

  /** False where the row is to be written in another way: nobody acts, or the database adds to it. */
  async function insertWithEntry(db: Executor, row: Values): Promise<boolean> {
    const actor = currentActor()
    if (!columns || !insertAlone || !actor || columns.some(column => row[column] === undefined)) return false
    const tenant = (row.tenant_id as string | null | undefined) ?? null
    const entry = entryOf(actor, table, nameOf(row), tenant, 'created', null, shown(row))
    const values = NAMES.map(name => (name === 'after' ? JSON.stringify(entry.after) : entry[name]))
    await runStatement(db, insertAlone, [...columns.map(column => row[column]), ...values])
    return true
  }

  const audited: AuditedTable<T> = {
    table,
    recordChange: (tx, before, after) => recordChange(tx, before as Values | null, after as Values | null),
    insert: async (db, rows, ifAbsent) => {
      const alone = rows.length === 1 && !ifAbsent && !db.isTransaction
      if (alone && (await insertWithEntry(db, rows[0] as Values))) return rows as Row<T>[]
      return transaction(db, async tx => {
        if (rows.length === 0) return []
        let query: Untyped = (tx as Untyped).insertInto(table).values(rows)
        if (ifAbsent) query = query.onConflict((c: Untyped) => c.columns(ifAbsent).doNothing())
        const made = await query.returningAll().execute()
        for (const row of made) recordChange(tx, null, row)
        return made
      })
    },
    update: (db, where, changes) =>
      transaction(db, async tx => {
        const before = new Map<string, Values>()
        if (currentActor()) {
          const locked = restrict((tx as Untyped).selectFrom(table).selectAll(), where).forNoKeyUpdate()
          for (const row of await locked.execute()) before.set(nameOf(row), row)
        }
        const query = restrict((tx as Untyped).updateTable(table).set(changes), where)
        const rows = await query.returningAll().execute()
        for (const row of rows) {
          const was = before.get(nameOf(row))
          if (was) recordChange(tx, was, row)
        }
        return rows
      }),
    upsert: (db, columns, row, changes) =>
      transaction(db, async tx => {
        const where = Object.fromEntries(columns.map(column => [column, (row as Values)[column]])) as Where<T>
        const change = async () => (await audited.update(tx, where, changes))[0]
        return (await change()) ?? (await audited.insert(tx, [row], columns))[0] ?? (await change())!
      }),
    delete: (db, where) =>
      transaction(db, async tx => {
        const rows = await restrict((tx as Untyped).deleteFrom(table), where)
          .returningAll()
          .execute()
        for (const row of rows) recordChange(tx, row, null)
        return rows
      }),
  }
  return audited
}
