// Gives every entry that has none its place in the chain. Entries are written without one, so that writers need not wait
// for each other; one that was committed late simply comes later.
import { transaction } from '../../kernel/db/transaction.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Task } from '../../kernel/queue/task.ts'
import { linkAfter } from './chain.ts'
import { findHead, insertSeals, listUnsealed, lockChain, newestSealed } from './chain-repository.ts'
import { firstIdAt, timeOf } from './id-range.ts'

const AT_A_TIME = 1_000

/** An entry's transaction may commit after a newer entry was sealed, but hardly this much later. */
const LATEST_COMMIT_MS = 15 * 60_000

export interface Sealing {
  /** Also looks for entries that were committed later than that: reads the whole log. */
  thorough?: boolean
  atATime?: number
}

/** How many were sealed. Two at once take turns, and seal each entry once. */
export async function sealEntries(
  { db, clock }: Pick<Kernel, 'db' | 'clock'>,
  { thorough = false, atATime = AT_A_TIME }: Sealing = {},
): Promise<number> {
  const newest = thorough ? undefined : await newestSealed(db)
  // A database whose clock was once ahead of the time has entries from the future.
  const known = newest === undefined ? 0 : Math.min(timeOf(newest), clock.now().getTime())
  let after = firstIdAt(known - LATEST_COMMIT_MS)
  for (let sealed = 0; ; ) {
    const ids = await transaction(db, async tx => {
      await lockChain(tx)
      const entries = await listUnsealed(tx, after, atATime)
      if (entries.length === 0) return []
      let link = await findHead(tx)
      const seals = entries.map(({ id, text }) => {
        link = linkAfter(link, text)
        return { ...link, entry_id: id }
      })
      await insertSeals(tx, seals)
      return entries.map(({ id }) => id)
    })
    sealed += ids.length
    if (ids.length < atATime) return sealed
    after = ids.at(-1)!
  }
}

export const auditSeal = (kernel: Kernel): Task => ({
  name: 'audit_seal',
  description: 'Adds new entries of the audit log to its chain of hashes.',
  queue: 'metering',
  cron: '* * * * *',
  async run({ log }) {
    const sealed = await sealEntries(kernel)
    if (sealed > 0) log.info({ sealed }, 'audit entries sealed')
  },
})
