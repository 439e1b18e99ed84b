import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  BEGINNING,
  follow,
  headOf,
  type Link,
  linkAfter,
  unlike,
} from '../../src/features/audit-log/chain.ts'
import { firstIdAt, timeOf } from '../../src/features/audit-log/id-range.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A chain of these texts, as it is stored. */
function stored(...texts: string[]) {
  let link: Link = BEGINNING
  return texts.map(text => {
    link = linkAfter(link, text)
    return { ...link, text: text as string | null }
  })
}

test('a link is the hash of the one before it, a new line and the entry, and the first follows 64 zeros', () => {
  assert.deepEqual(BEGINNING, { seq: 0, hash: '0'.repeat(64) })
  const first = { seq: 1, hash: sha256(`${'0'.repeat(64)}\none`) }
  assert.deepEqual(linkAfter(BEGINNING, 'one'), first)
  assert.deepEqual(linkAfter(first, 'two'), { seq: 2, hash: sha256(`${first.hash}\ntwo`) })
})

test('a chain that stands is followed to its last link, from wherever it is entered', () => {
  const [one, two, three] = stored('a', 'b', 'c') as [
    never,
    Link,
    { seq: number; hash: string; text: string },
  ]
  const last = { seq: 3, hash: three.hash }
  assert.deepEqual(follow(BEGINNING, [one, { ...two, text: 'b' }, three]), { last })
  assert.deepEqual(follow(two, [three]), { last })
})

test('where a chain breaks is told by number and reason, with the last link that holds', () => {
  const whole = stored('a', 'b', 'c')
  const broken = (change: (links: typeof whole) => void) => {
    const links = structuredClone(whole)
    change(links)
    const { last, broken } = follow(BEGINNING, links)
    return [last.seq, last.hash, broken?.broken_at, broken?.reason]
  }
  const first = [1, whole[0]!.hash]
  const changed = 'the entry or the link before it was changed'
  assert.deepEqual(
    broken(links => {
      links[1]!.text = 'B'
    }),
    [...first, 2, changed],
  )
  assert.deepEqual(
    broken(links => {
      links[1]!.hash = links[0]!.hash
    }),
    [...first, 2, changed],
  )
  assert.deepEqual(
    broken(links => {
      links[1]!.text = null
    }),
    [...first, 2, 'the entry is missing'],
  )
  assert.deepEqual(
    broken(links => {
      links.splice(1, 1)
    }),
    [...first, 2, 'the link is missing'],
  )
  assert.deepEqual(follow(BEGINNING, []), {
    last: BEGINNING,
    broken: { broken_at: 1, reason: 'the link is missing' },
  })
})

test('a noted head must stand in its place with its hash', () => {
  const noted = headOf('12:abc')
  assert.deepEqual(noted, { seq: 12, hash: 'abc' })
  assert.equal(unlike(noted, { seq: 12, hash: 'abc' }), undefined)
  assert.deepEqual(unlike(noted, { seq: 12, hash: 'abd' }), {
    broken_at: 12,
    reason: 'the link is not the one that was noted',
  })
  assert.deepEqual(unlike(noted, undefined), {
    broken_at: 12,
    reason: 'the chain ends before the noted link',
  })
})

test('a moment is the first id that begins with its milliseconds, within what six bytes hold', () => {
  assert.equal(firstIdAt(Date.parse('2026-11-15T12:00:00.123Z')), '01a1df14-1e7b-0000-0000-000000000000')
  assert.equal(firstIdAt(0), '00000000-0000-0000-0000-000000000000')
  assert.equal(firstIdAt(-1), '00000000-0000-0000-0000-000000000000')
  assert.equal(firstIdAt(2 ** 48 - 1), 'ffffffff-ffff-0000-0000-000000000000')
  assert.equal(firstIdAt(2 ** 48), 'ffffffff-ffff-0000-0000-000000000000')
  const time = Date.parse('2026-11-15T12:00:00.123Z')
  assert.equal(timeOf(firstIdAt(time)), time)
  assert.equal(timeOf('01a1df14-1e7b-7fff-bfff-ffffffffffff'), timeOf('01a1df14-1e7b-0000-0000-000000000000'))
})
