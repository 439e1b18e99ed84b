// The inventory's rules at their edges: what ties a resource to a deployment, and what is stored.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deploymentTag, seenResource } from '../../src/features/inventory/seen-resource.ts'
import { same } from '../../src/features/inventory/sweep-plan.ts'

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
