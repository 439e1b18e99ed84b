import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  BEGINNING,
  doubtIn,
  follow,
  headOf,
  type Link,
  linkAfter,
  macText,
  unlike,
} from '../../src/features/audit-log/chain.ts'
import {
  checkpointAfter,
  digestOf,
  documentIn,
  documentOf,
  fileOf,
  followCheckpoints,
  signatureProblem,
  unlikeCopy,
} from '../../src/features/audit-log/checkpoint.ts'
import { auditKeys } from '../../src/kernel/audit-keys.ts'
import { firstIdAt, timeOfId } from '../../src/kernel/ids.ts'

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
  assert.equal(timeOfId(firstIdAt(time)), time)
  assert.equal(
    timeOfId('01a1df14-1e7b-7fff-bfff-ffffffffffff'),
    timeOfId('01a1df14-1e7b-0000-0000-000000000000'),
  )
})

const [old, next] = ['an-old-secret-of-32-bytes-or-more!!', 'a-new-secret-of-32-bytes-or-more!!!']
const keys = auditKeys([next, old])

test('keys are derived from the secrets: the first is used, all are known, and each by an id of its own', () => {
  const other = auditKeys(old)
  assert.equal(keys.current.id, auditKeys(next).current.id)
  assert.equal(keys.find(other.current.id)?.publicKey, other.current.publicKey)
  assert.equal(keys.find('none'), undefined)
  assert.match(keys.current.id, /^[0-9a-f]{16}$/)
  assert.equal(Buffer.from(keys.current.publicKey, 'base64').length, 32)
  assert.equal(keys.current.id, sha256Of(Buffer.from(keys.current.publicKey, 'base64')).slice(0, 16))
  assert.notEqual(keys.current.mac('x'), other.current.mac('x'))
  const signature = other.current.sign('x')
  assert.deepEqual(
    [other.current.verifies('x', signature), other.current.verifies('y', signature)],
    [true, false],
  )
  assert.equal(keys.current.verifies('x', signature), false)
})

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('a link is vouched for by its key, by a checkpoint, or by being older than the key', () => {
  const vouched = (seq: number, key = keys.current, checkpoint: number | null = null) => {
    const hash = sha256(String(seq))
    return { seq, hash, key_id: key.id, mac: key.mac(macText({ seq, hash }, checkpoint)), checkpoint }
  }
  const lost = auditKeys('a-secret-that-is-lost').current
  const bare = (seq: number) => ({ ...vouched(seq), key_id: null, mac: null })
  const trust = { keys, unkeyed: 0, proven: 0 }
  assert.equal(macText({ seq: 7, hash: 'ab' }, 3), '7\nab\n3')
  assert.equal(macText({ seq: 7, hash: 'ab' }, null), '7\nab\n')
  assert.equal(doubtIn([vouched(1), vouched(2, auditKeys(old).current, 5)], trust), undefined)
  assert.deepEqual(doubtIn([vouched(1), bare(2)], trust), { broken_at: 2, reason: 'the link has no key' })
  assert.equal(doubtIn([bare(1), bare(2)], { ...trust, unkeyed: 2 }), undefined)
  assert.equal(doubtIn([bare(3)], { ...trust, unkeyed: 2 })?.broken_at, 3)
  assert.equal(doubtIn([vouched(2, lost)], { ...trust, proven: 2 }), undefined)
  assert.deepEqual(doubtIn([vouched(3, lost)], { ...trust, proven: 2 }), {
    broken_at: 3,
    reason: `the link was made with the key ${lost.id}, which is not in SECRET_KEY`,
  })
  for (const changed of [{ hash: sha256('x') }, { checkpoint: 1 }, { mac: 'x' }])
    assert.deepEqual(doubtIn([{ ...vouched(4), ...changed }], { keys, unkeyed: 9, proven: 9 }), {
      broken_at: 4,
      reason: 'the link was made without the key',
    })
})

const at = '2026-11-15T12:00:00.000Z'
const first = checkpointAfter(
  undefined,
  { seq: 5, hash: sha256('5') },
  { at, unkeyed: 2, key: auditKeys(old).current },
)
const second = checkpointAfter(first, { seq: 9, hash: sha256('9') }, { at, unkeyed: 7, key: keys.current })

test('a checkpoint names the one before it, and its signature covers all it says', () => {
  assert.deepEqual([first.number, first.previous, first.unkeyed], [1, '0'.repeat(64), 2])
  assert.deepEqual([second.number, second.previous, second.unkeyed], [2, digestOf(first), 2])
  assert.deepEqual([second.seq, second.hash, second.at], [9, sha256('9'), at])
  assert.equal(signatureProblem(first, keys), undefined)
  assert.equal(signatureProblem(second, keys), undefined)
  const invalid = 'the signature of checkpoint 2 is not valid'
  for (const change of [{ seq: 8 }, { hash: sha256('8') }, { at: '' }, { unkeyed: 0 }, { previous: '' }])
    assert.equal(signatureProblem({ ...second, ...change }, keys), invalid, JSON.stringify(change))
  assert.equal(
    signatureProblem(first, auditKeys(next)),
    `checkpoint 1 was signed with the key ${first.key_id}, which is not in SECRET_KEY`,
  )
})

test('checkpoints are followed from wherever they are entered, to where one is missing or another', () => {
  assert.deepEqual(followCheckpoints(undefined, []), { last: undefined })
  assert.deepEqual(followCheckpoints(undefined, [first, second]), { last: second })
  assert.deepEqual(followCheckpoints(first, [second]), { last: second })
  assert.deepEqual(followCheckpoints(undefined, [second]), {
    last: undefined,
    broken: { broken_at: 9, reason: 'checkpoint 1 is missing' },
  })
  assert.deepEqual(followCheckpoints({ ...first, signature: 'x' }, [second]).broken, {
    broken_at: 9,
    reason: 'checkpoint 2, or the one before it, was changed',
  })
})

test('a copy that is kept elsewhere is compared with what stands, member by member', () => {
  const copy = documentOf(second, keys)
  assert.deepEqual(copy, { ...second, entries: 9, public_key: keys.current.publicKey })
  assert.equal(documentOf(second, auditKeys(old)).public_key, null)
  assert.equal(fileOf(2), 'audit/checkpoints/000000000002.json')
  assert.deepEqual(documentIn(JSON.stringify(copy)), copy)
  for (const other of ['', 'null', '[]', '{"number": 1}', JSON.stringify({ ...copy, number: '1' })])
    assert.equal(documentIn(other), undefined, other)
  assert.equal(unlikeCopy(copy, second), undefined)
  assert.equal(unlikeCopy(copy, { ...copy, public_key: null }), undefined)
  assert.deepEqual(unlikeCopy(copy, undefined), {
    broken_at: 9,
    reason: 'checkpoint 2, which is kept elsewhere, is missing here',
  })
  for (const member of ['seq', 'hash', 'at', 'unkeyed', 'previous', 'key_id', 'signature'])
    assert.deepEqual(unlikeCopy(copy, { ...second, [member]: 'x' }), {
      broken_at: 9,
      reason: 'checkpoint 2 is not the one that is kept elsewhere',
    })
})
