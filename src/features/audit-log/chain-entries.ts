// Links new entries into the chain, and makes a checkpoint of where it then stands. Entries are written without a link, so
// that writers do not wait for each other; one that is committed late is linked later.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { firstIdAt, timeOfId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { publishEvent } from '../webhooks/index.ts'
import { type Link, linkAfter, macText } from './chain.ts'
import { type Checkpoint, checkpointAfter, documentOf, signatureProblem } from './checkpoint.ts'
import { publishCheckpoints } from './publish-checkpoints.ts'
import {
  countUnkeyed,
  findHead,
  insertCheckpoint,
  insertLinks,
  listUnchained,
  lockChain,
  newestChained,
  newestCheckpoint,
} from './store.ts'

const AT_A_TIME = 1_000

/** An entry's transaction may commit after a newer entry was linked, but hardly this much later. */
const LATEST_COMMIT_MS = 15 * 60_000

const NO_CHECKPOINT = 'the chain has links and no checkpoint'

type ChainDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'auditKeys'>

export interface ChainOptions {
  /** Also finds entries that were committed later than that: reads the whole log. */
  thorough?: boolean
  atATime?: number
}

/** How many were linked. Two at once take turns, and link each entry once. */
export async function chainEntries(
  deps: ChainDeps,
  { thorough = false, atATime = AT_A_TIME }: ChainOptions = {},
): Promise<number> {
  const { db, clock } = deps
  const newest = thorough ? undefined : await newestChained(db)
  // A database whose clock was once ahead of the time has entries from the future.
  const known = newest === undefined ? 0 : Math.min(timeOfId(newest), clock.now().getTime())
  let after = firstIdAt(known - LATEST_COMMIT_MS)
  for (let linked = 0; ; ) {
    const ids = await transaction(db, async tx => {
      await lockChain(tx)
      const entries = await listUnchained(tx, after, atATime)
      await link(tx, deps, entries)
      return entries.map(({ id }) => id)
    })
    linked += ids.length
    if (ids.length < atATime) return linked
    after = ids.at(-1)!
  }
}

/**
 * Under the chain's lock. Without entries there is still a checkpoint to make when the key is another one since the last,
 * and the first one of a chain from before there were any.
 */
async function link(tx: Executor, deps: ChainDeps, entries: { id: string; text: string }[]): Promise<void> {
  const { current } = deps.auditKeys
  const head = await findHead(tx)
  const newest = await newestCheckpoint(tx)
  const outdated = newest ? newest.key_id !== current.id : head.seq > 0
  if (entries.length === 0 && !outdated) return
  const unkeyed = newest === undefined && head.seq > 0 ? await countUnkeyed(tx) : 0
  // A signature after a checkpoint, or after links, proves them too.
  const problem = newest ? signatureProblem(newest, deps.auditKeys) : unkeyed < head.seq && NO_CHECKPOINT
  if (problem) deps.log.error({ problem }, 'no checkpoint of the audit log is made')
  const number = problem ? null : (newest?.number ?? 0) + 1
  let last = head
  const links = entries.map(({ id, text }, i) => {
    last = linkAfter(last, text)
    const checkpoint = i === entries.length - 1 ? number : null
    const mac = current.mac(macText(last, checkpoint))
    return { ...last, entry_id: id, key_id: current.id, mac, checkpoint }
  })
  await insertLinks(tx, links)
  if (!problem) await makeCheckpoint(tx, deps, newest, last, unkeyed)
}

async function makeCheckpoint(
  tx: Executor,
  { auditKeys, clock }: ChainDeps,
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

export const auditSeal = (deps: Deps): Task => ({
  name: 'audit_seal',
  description: 'Adds new entries of the audit log to its chain, and publishes signed checkpoints of it.',
  queue: 'metering',
  cron: '* * * * *',
  async run({ log }) {
    const linked = await chainEntries(deps)
    if (linked > 0) log.info({ linked }, 'audit entries added to the chain')
    await publishCheckpoints(deps)
  },
})
