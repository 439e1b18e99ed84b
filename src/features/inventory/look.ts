// A look at the provider, begun: its place in the order of all looks, whichever node makes them. Times would not do: two
// nodes' clocks differ, and what one dates ahead would be newer than all that the other sees.
import { sql } from 'kysely'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Clock } from '../../kernel/time.ts'

export interface Look {
  /** Counts up across nodes; taken before the provider is asked. */
  look: number
  at: string
}

export async function beginLook(executor: Executor, clock: Clock): Promise<Look> {
  const { rows } = await sql<{ look: number }>`select nextval('provider_looks') as look`.execute(executor)
  return { look: rows[0]!.look, at: clock.now().toISOString() }
}
