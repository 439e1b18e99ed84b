// Is the audit log whole? Goes along its checkpoints and along the chain from its beginning, a batch at a time, compares
// both with what was published, and says where they do not hold.
import type { Deps } from '../../deps.ts'
import { BEGINNING, type Break, doubtIn, follow, type Link, type Trust, unlike } from './chain.ts'
import { chainEntries } from './chain-entries.ts'
import { type Checkpoint, followCheckpoints, signatureProblem } from './checkpoint.ts'
import { comparePublished, type Published } from './publish-checkpoints.ts'
import { checkpointsAfter, findHead, findLink, firstMisfit, listLinks } from './store.ts'

const AT_A_TIME = 1_000

export interface Verification {
  /** A head that was noted earlier: it must still stand in its place. */
  noted?: Link
  atATime?: number
}

export interface Verdict {
  intact: boolean
  /** How many entries were found as they were written. */
  entries: number
  /** Of them, those from before the chain had a key. */
  unkeyed: number
  /** The end of the chain; null when it is empty. */
  head: Link | null
  /** How many stand. */
  checkpoints: number
  published: Published | null
  broken_at: number | null
  reason: string | null
}

export async function verifyChain(
  deps: Deps,
  { noted, atATime = AT_A_TIME }: Verification = {},
): Promise<Verdict> {
  const { db, auditKeys: keys } = deps
  await chainEntries(deps, { thorough: true })
  const end = await findHead(db)
  const checkpoints = await walkCheckpoints(deps, atATime)
  const { newest, broken: mismatch } = checkpoints
  // Where the checkpoints themselves do not hold, only what is wrong for certain is held against the links.
  const trust: Trust = mismatch
    ? { keys, unkeyed: end.seq, proven: end.seq }
    : { keys, unkeyed: newest?.unkeyed ?? 0, proven: newest?.seq ?? 0 }
  const links = await walkLinks(deps, end, trust, atATime)
  const elsewhere = await comparePublished(deps)
  const broken =
    links.broken ??
    mismatch ??
    (await firstMisfit(db)) ??
    unfinished(end, newest) ??
    elsewhere.broken ??
    (noted && unlike(noted, await findLink(db, noted.seq)))
  return {
    intact: broken === undefined,
    entries: links.last.seq,
    unkeyed: newest?.unkeyed ?? 0,
    head: end.seq === 0 ? null : end,
    checkpoints: checkpoints.count,
    published: elsewhere.published,
    broken_at: broken?.broken_at ?? null,
    reason: broken?.reason ?? null,
  }
}

/** Each names the one before it, so that the newest one's signature proves them all. */
async function walkCheckpoints(
  { db, auditKeys }: Deps,
  atATime: number,
): Promise<{ count: number; newest?: Checkpoint; broken?: Break }> {
  let newest: Checkpoint | undefined
  for (;;) {
    const rows = await checkpointsAfter(db, newest?.number ?? 0, atATime)
    const { last, broken } = followCheckpoints(newest, rows)
    if (broken) return { count: last?.number ?? 0, broken }
    newest = last
    if (rows.length < atATime) break
  }
  const reason = newest && signatureProblem(newest, auditKeys)
  if (newest && reason) return { count: newest.number, broken: { broken_at: newest.seq, reason } }
  return { count: newest?.number ?? 0, ...(newest && { newest }) }
}

/** A checkpoint is made with the links it is of: links behind the newest were left when it was cut off. */
function unfinished({ seq }: Link, newest: Checkpoint | undefined): Break | undefined {
  const proven = newest?.seq ?? 0
  return seq > proven ? { broken_at: proven + 1, reason: 'the checkpoint of the link is missing' } : undefined
}

async function walkLinks(
  { db }: Deps,
  end: Link,
  trust: Trust,
  atATime: number,
): Promise<{ last: Link; broken?: Break }> {
  let at = BEGINNING
  while (at.seq < end.seq) {
    const links = await listLinks(db, at.seq, end.seq, atATime)
    const { last, broken } = follow(at, links)
    const standing = links.filter(({ seq }) => seq <= last.seq)
    const doubt = doubtIn(standing, trust)
    if (doubt) return { last: { seq: doubt.broken_at - 1, hash: '' }, broken: doubt }
    if (broken) return { last, broken }
    at = last
  }
  return { last: at }
}
