// The chain of the audit log: each entry's hash is made of the hash before it and of the entry's text, so that a change, a
// removal or an insertion changes every later hash. Each link has a MAC as well, so that whoever has the database but not the
// key cannot compute the later links again. Pure.
import { createHash } from 'node:crypto'
import type { AuditKeys } from '../../kernel/audit-keys.ts'

/** The last link of what has been chained so far; what is noted elsewhere proves that nothing was cut off behind it. */
export interface Link {
  seq: number
  hash: string
}

/** Before the first entry. */
export const BEGINNING: Link = { seq: 0, hash: '0'.repeat(64) }

export const linkAfter = ({ seq, hash }: Link, text: string): Link => ({
  seq: seq + 1,
  hash: createHash('sha256').update(`${hash}\n${text}`).digest('hex'),
})

/** A link as it is stored, with the text of its entry as that is now; null: the entry is gone. */
export interface StoredLink extends Link {
  text: string | null
}

export interface Break {
  broken_at: number
  reason: string
}

/** Goes along the next stored links: to the last of them, or to where they do not hold. There should be some. */
export function follow(before: Link, stored: StoredLink[]): { last: Link; broken?: Break } {
  let last = before
  if (stored.length === 0) return { last, broken: missing(last.seq + 1) }
  for (const { seq, hash, text } of stored) {
    if (seq !== last.seq + 1) return { last, broken: missing(last.seq + 1) }
    if (text === null) return { last, broken: { broken_at: seq, reason: 'the entry is missing' } }
    const link = linkAfter(last, text)
    if (link.hash !== hash)
      return { last, broken: { broken_at: seq, reason: 'the entry or the link before it was changed' } }
    last = link
  }
  return { last }
}

/** `SEQ:HASH`, as a head is noted. */
export function headOf(noted: string): Link {
  const [seq, hash] = noted.split(':') as [string, string]
  return { seq: Number(seq), hash }
}

/** Why the link that stands in the place of a noted one is not that one; undefined when it is. */
export function unlike(noted: Link, standing: Link | undefined): Break | undefined {
  const reason = standing ? 'the link is not the one that was noted' : 'the chain ends before the noted link'
  return standing?.hash === noted.hash ? undefined : { broken_at: noted.seq, reason }
}

/** A link with its MAC; links of earlier versions have no key. */
export interface KeyedLink extends Link {
  key_id: string | null
  mac: string | null
  checkpoint: number | null
}

/** What the MAC is made of. */
export const macText = ({ seq, hash }: Link, checkpoint: number | null): string =>
  [seq, hash, checkpoint ?? ''].join('\n')

/** What is known without looking at a link: the keys, and what a checkpoint proves that was signed with one of them. */
export interface Trust {
  keys: AuditKeys
  /** Links up to this one were made before the chain had a key. */
  unkeyed: number
  /** The last link that a checkpoint proves. */
  proven: number
}

/** The first of these links that no key proves, and why. */
export function doubtIn(links: readonly KeyedLink[], { keys, unkeyed, proven }: Trust): Break | undefined {
  for (const link of links) {
    const { seq, key_id, mac, checkpoint } = link
    const broken = (reason: string): Break => ({ broken_at: seq, reason })
    if (mac === null || key_id === null) {
      if (seq > unkeyed) return broken('the link has no key')
      continue
    }
    const key = keys.find(key_id)
    if (!key) {
      if (seq > proven) return broken(`the link was made with the key ${key_id}, which is not in SECRET_KEY`)
    } else if (key.mac(macText(link, checkpoint)) !== mac) {
      return broken('the link was made without the key')
    }
  }
  return undefined
}

const missing = (seq: number): Break => ({ broken_at: seq, reason: 'the link is missing' })
