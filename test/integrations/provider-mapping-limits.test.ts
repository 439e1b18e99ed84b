// The mapping at its edges: what is left out of attributes, in which order lists are kept, and what is no name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapItem, resourceOfUrn, urnOf } from '../../src/integrations/digitalocean/index.ts'

const attrs = (raw: object) => mapItem('app', { id: 'a', spec: {}, ...raw }).attrs

test('of an environment only the names are kept, at any depth, and values elsewhere stay', () => {
  const envs = [{ key: 'A', value: 'x' }, 'B']
  assert.deepEqual(attrs({ envs }).envs, ['B', { key: 'A' }])
  assert.deepEqual(attrs({ spec: { envs } }).spec, { envs: ['B', { key: 'A' }] })
  assert.deepEqual(attrs({ labels: [{ key: 'A', value: 'x' }] }).labels, [{ key: 'A', value: 'x' }])
  assert.deepEqual(attrs({ myenvs: [{ value: 'x' }] }).myenvs, [{ value: 'x' }])
})

test('who is named in an address is cut out, whatever its scheme', () => {
  const urls = [
    'HTTPS://user:key@host/x',
    'git+ssh://key@host',
    'see http://a@b and s3://c@d',
    'ada@example.com',
  ]
  assert.deepEqual(
    urls.map(url => attrs({ url }).url),
    ['HTTPS://host/x', 'git+ssh://host', 'see http://b and s3://d', 'ada@example.com'],
  )
})

test('what is named like a secret is left out, and what only contains such a word stays', () => {
  const secrets = [
    'Password',
    'db_token',
    'API_KEYS',
    'connection',
    'private_connection',
    'uri',
    'ca_certs_pem',
  ]
  const harmless = ['connections', 'tokenizer', 'security', 'curious', 'keys']
  const all = Object.fromEntries([...secrets, ...harmless].map(name => [name, 1]))
  assert.deepEqual(Object.keys(attrs(all)), [...harmless, 'spec'].sort())
})

test('lists are kept in one order: numbers by size, all else by its text', () => {
  assert.deepEqual(attrs({ ports: [10, 9, 100] }).ports, [9, 10, 100])
  assert.deepEqual(attrs({ list: ['b', 'a', 'c', 'a'] }).list, ['a', 'a', 'b', 'c'])
  assert.deepEqual(attrs({ list: [2, 'a', 10] }).list, attrs({ list: ['a', 10, 2] }).list)
  assert.deepEqual(attrs({ pair: ['b', 'a'] }).pair, ['a', 'b'])
  assert.deepEqual(attrs({ objects: [{ b: 1 }, { a: 2, c: [3, 1] }] }).objects, [
    { a: 2, c: [1, 3] },
    { b: 1 },
  ])
})

test('fields with a column of their own are no attributes, also where another field is the id', () => {
  const registry = { name: 'r', id: 'x', region: 'fra1', region_slug: 'fra1', status: 's', tags: [], size: 1 }
  assert.deepEqual(mapItem('registry', registry).attrs, { size: 1 })
})

test('tags that are no text are no tags, and only one region is a region', () => {
  assert.deepEqual(mapItem('droplet', { id: 1, tags: ['b', 7, null, 'a', 'b'] }).tags, ['a', 'b'])
  assert.equal(Object.hasOwn(mapItem('droplet', { id: 1, tags: undefined }), 'tags'), false)
  assert.equal(Object.hasOwn(mapItem('ssh_key', { id: 1, name: 'k', tags: ['a'] }), 'tags'), false)
  const unfinished = { id: 'a', spec: {}, active_deployment: { id: 'd' } }
  assert.equal(mapItem('app', unfinished).status, null, 'there is a deployment, which says nothing')
  const region = (regions: unknown) => mapItem('snapshot', { id: 1, regions }).region
  assert.deepEqual(
    [region(['nyc3']), region(['nyc3', 'ams3']), region([]), region([7])],
    ['nyc3', null, null, null],
  )
})

test('a project’s names are read whole or not at all', () => {
  assert.deepEqual(resourceOfUrn('do:droplet:1'), { kind: 'droplet', provider_id: '1' })
  for (const urn of [
    'xdo:droplet:1',
    'do:droplet:',
    'do:droplet:1\nx',
    'do::1',
    'do:space:x',
    'droplet:1',
    '',
  ])
    assert.equal(resourceOfUrn(urn), null, urn)
  assert.equal(urnOf('ssh_key', '1'), null)
  assert.equal(urnOf('reserved_ip', '192.0.2.1'), 'do:floatingip:192.0.2.1')
})
