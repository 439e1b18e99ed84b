// The inventory's rules at their edges: how old news may be, what ties a resource to a deployment, and what is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { same } from '../../../src/features/inventory/same.ts'
import { deploymentTag, seenResource } from '../../../src/features/inventory/seen-resource.ts'
import { type KnownResource, planSweep } from '../../../src/features/inventory/sweep-plan.ts'

const HOUR = 3_600_000
const row: KnownResource = {
  id: 'r',
  provider_id: '1',
  name: 'a',
  region: null,
  status: null,
  tags: [],
  attrs: {},
  deployment_id: null,
  deleted_at: null,
  last_seen_at: '2026-11-15T12:00:00.000Z',
}

test('an answer is old news for less than an hour; a row dated later than that is taken for a wrong clock', () => {
  const asked = (earlierMs: number) => new Date(Date.parse(row.last_seen_at) - earlierMs).toISOString()
  const written = (earlierMs: number) =>
    planSweep([row], [{ provider_id: '1', name: 'b', attrs: {}, fingerprint: 'f' }], asked(earlierMs)).updates
      .length
  assert.deepEqual([0, 1, HOUR - 1, HOUR, HOUR + 1].map(written), [1, 0, 0, 1, 1])
})

test('a resource is tied to a deployment by the tag that is made for it', () => {
  const id = '01a1de2b-5688-766c-8709-0aa08fd3b0a8'
  assert.equal(deploymentTag(id), `deployment:${id}`)
  const item = { provider_id: '1', kind: 'droplet' as const, urn: null, attrs: {}, tags: [deploymentTag(id)] }
  assert.equal(seenResource(item).deployment_id, id)
})

test('texts that only look like an escape are stored as they are, and the fingerprint is a short hash of them', () => {
  const seen = (name: string) =>
    seenResource({ provider_id: '1', kind: 'droplet', urn: null, attrs: {}, name })
  assert.equal(seen('\\u0000 \\ud800 \\uD800').name, '\\u0000 \\ud800 \\uD800')
  assert.equal(seen('a\0b\ud800c\udfffd').name, 'a\ufffdb\ufffdc\ufffdd')
  assert.equal(seen('\ud83d\ude00').name, '😀')
  assert.match(seen('x').fingerprint, /^[A-Za-z0-9+/]{27}=$/)
})

test('objects with as many members are the same only when every one of them is', () => {
  assert.ok(same({ a: 1, b: [2] }, { b: [2], a: 1 }))
  for (const other of [
    { a: 1, c: 2 },
    { a: 1, b: 3 },
    { a: 2, b: 2 },
    { a: 1, b: undefined },
  ])
    assert.ok(!same({ a: 1, b: 2 }, other))
  assert.ok(!same({ a: undefined }, { b: undefined }))
})
