// All tables. Their columns are generated from the migrated schema (`npm run db:types`); what the schema does not say, the
// states of a column or the shape of its JSON, each feature adds in its `tables.ts` by declaration merging.
import type { Kysely, Selectable } from 'kysely'
import type { GeneratedTables } from './tables.generated.ts'

/** Table → column → its type, where it is narrower than the generated one. */
// biome-ignore lint/suspicious/noEmptyInterface: features merge their columns into it
export interface ColumnTypes {}

export type Tables = {
  [T in keyof GeneratedTables]: T extends keyof ColumnTypes
    ? Narrowed<GeneratedTables[T], ColumnTypes[T]>
    : GeneratedTables[T]
}

type Narrowed<Table, Columns> = {
  [C in keyof Table]: C extends keyof Columns ? Columns[C] : Table[C]
}

/** A row as it is read. */
export type Row<T extends keyof Tables> = Selectable<Tables[T]>

/** The first parameter of every store function: the database, or the transaction the use case opened. */
export type Executor = Kysely<Tables>
