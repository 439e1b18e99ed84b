// Is the audit log whole? Goes along the chain from its beginning, a batch at a time, and says where it does not hold.
import type { Kernel } from '../../kernel/kernel.ts'
import { BEGINNING, follow, type Link, unlike } from './chain.ts'
import { findHead, findLink, listLinks } from './chain-repository.ts'
import { sealEntries } from './seal-entries.ts'

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
  /** The end of the chain; null when it is empty. */
  head: Link | null
  broken_at: number | null
  reason: string | null
}

export async function verifyChain(
  kernel: Pick<Kernel, 'db' | 'clock'>,
  { noted, atATime = AT_A_TIME }: Verification = {},
): Promise<Verdict> {
  const { db } = kernel
  await sealEntries(kernel, { thorough: true })
  const end = await findHead(db)
  const head = end.seq === 0 ? null : end
  let at = BEGINNING
  while (at.seq < end.seq) {
    const { last, broken } = follow(at, await listLinks(db, at.seq, end.seq, atATime))
    if (broken) return { intact: false, entries: last.seq, head, ...broken }
    at = last
  }
  const other = noted && unlike(noted, await findLink(db, noted.seq))
  if (other) return { intact: false, entries: at.seq, head, ...other }
  return { intact: true, entries: at.seq, head, broken_at: null, reason: null }
}
