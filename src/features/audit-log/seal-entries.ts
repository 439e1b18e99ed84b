// Gives every entry that has none its place in the chain, and makes a checkpoint of where the chain then stands. Entries
// are written without a place, so that writers need not wait for each other; one that was committed late simply comes later.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { publishEvent } from '../webhooks/index.ts'
import { type Link, linkAfter, macText } from './chain.ts'
import {
  countUnkeyed,
  findHead,
  insertCheckpoint,
  insertSeals,
  listUnsealed,
  lockChain,
  newestCheckpoint,
  newestSealed,
} from './chain-repository.ts'
import { type Checkpoint, checkpointAfter, documentOf, signatureProblem } from './checkpoint.ts'
import { firstIdAt, timeOf } from './id-range.ts'

const AT_A_TIME = 1_000

/** An entry's transaction may commit after a newer entry was sealed, but hardly this much later. */
const LATEST_COMMIT_MS = 15 * 60_000

const NO_CHECKPOINT = 'the chain has links and no checkpoint'

export type SealKernel = Pick<Deps, 'db' | 'clock' | 'log' | 'auditKeys'>

export interface Sealing {
  /** Also looks for entries that were committed later than that: reads the whole log. */
  thorough?: boolean
  atATime?: number
}

/** How many were sealed. Two at once take turns, and seal each entry once. */
export async function sealEntries(
  deps: SealKernel,
  { thorough = false, atATime = AT_A_TIME }: Sealing = {},
): Promise<number> {
  const { db, clock } = deps
  const newest = thorough ? undefined : await newestSealed(db)
  // A database whose clock was once ahead of the time has entries from the future.
  const known = newest === undefined ? 0 : Math.min(timeOf(newest), clock.now().getTime())
  let after = firstIdAt(known - LATEST_COMMIT_MS)
  for (let sealed = 0; ; ) {
    const ids = await transaction(db, async tx => {
      await lockChain(tx)
      const entries = await listUnsealed(tx, after, atATime)
      await seal(tx, deps, entries)
      return entries.map(({ id }) => id)
    })
    sealed += ids.length
    if (ids.length < atATime) return sealed
    after = ids.at(-1)!
  }
}

/**
 * Under the chain's lock. Without entries there is still a checkpoint to make when the key is another one since the last,
 * and the first one of a chain from before there were any.
 */
async function seal(tx: Executor, deps: SealKernel, entries: { id: string; text: string }[]): Promise<void> {
  const { current } = deps.auditKeys
  const head = await findHead(tx)
  const newest = await newestCheckpoint(tx)
  const behindhand = newest ? newest.key_id !== current.id : head.seq > 0
  if (entries.length === 0 && !behindhand) return
  const unkeyed = newest === undefined && head.seq > 0 ? await countUnkeyed(tx) : 0
  // Whoever signs behind a checkpoint, or behind links, vouches for them.
  const problem = newest ? signatureProblem(newest, deps.auditKeys) : unkeyed < head.seq && NO_CHECKPOINT
  if (problem) deps.log.error({ problem }, 'no checkpoint of the audit log is made')
  const number = problem ? null : (newest?.number ?? 0) + 1
  let link = head
  const seals = entries.map(({ id, text }, i) => {
    link = linkAfter(link, text)
    const checkpoint = i === entries.length - 1 ? number : null
    const mac = current.mac(macText(link, checkpoint))
    return { ...link, entry_id: id, key_id: current.id, mac, checkpoint }
  })
  await insertSeals(tx, seals)
  if (!problem) await makeCheckpoint(tx, deps, newest, link, unkeyed)
}

async function makeCheckpoint(
  tx: Executor,
  { auditKeys, clock }: SealKernel,
  newest: Checkpoint | undefined,
  last: Link,
  unkeyed: number,
): Promise<void> {
  const at = clock.now().toISOString()
  const checkpoint = checkpointAfter(newest, last, { at, unkeyed, key: auditKeys.current })
  await insertCheckpoint(tx, checkpoint)
  const data = { tenant_id: null, checkpoint: documentOf(checkpoint, auditKeys) }
  await publishEvent(tx, { type: 'audit.checkpoint', tenantId: null, at, data })
}
