// All tables, joined. The kernel knows none of them: each feature adds its own from its `tables.ts` by
// declaration merging, so that the arrow points from the feature down to the kernel.
import type { Kysely } from 'kysely'

// biome-ignore lint/suspicious/noEmptyInterface: features merge their tables into it
export interface Tables {}

/** The first parameter of every repository function: the database, or the transaction the use case opened. */
export type Executor = Kysely<Tables>
