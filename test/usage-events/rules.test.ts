// How an event is read: times, values, and the binary mode.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  eventOfHeaders,
  idOf,
  knownAt,
  momentOf,
  readEvent,
  subjectsOf,
} from '../../src/features/usage-events/cloud-event.ts'

const ID = '01980000-0000-7000-8000-00000000000a'
const now = new Date('2026-11-15T12:00:00.000Z')
const known = knownAt(
  now,
  [
    { code: 'tokens', aggregation: 'sum' },
    { code: 'users', aggregation: 'unique' },
  ],
  [{ id: ID, tenant_id: 'acme', created_at: '2026-10-20T00:00:00.000Z' }],
)
const sent = { specversion: '1.0', id: 'e', source: 's', type: 'tokens', subject: ID, data: { value: 2.5 } }

test('an event that counts has its tenant, meter, moment and value', () => {
  const event = {
    ...{ tenant_id: 'acme', source: 's', event_id: 'e', deployment_id: ID, meter: 'tokens' },
    ...{ at: '2026-11-15T12:00:00.000Z', value: 2.5, member: null },
  }
  assert.deepEqual(readEvent(sent, known), event)
  assert.deepEqual(readEvent({ ...sent, time: null, subject: ID.toUpperCase() }, known), event)
  const early = { ...sent, time: '2026-10-01T00:00:00Z', data: { value: 0 } }
  assert.deepEqual(readEvent(early, known), { ...event, at: '2026-10-01T00:00:00.000Z', value: 0 })
  assert.equal(readEvent({ ...early, time: '2026-09-30T23:59:59.999Z' }, known), 'time_before_deployment')
  const ahead = readEvent({ ...sent, time: '2026-11-15T12:05:00Z' }, known)
  assert.deepEqual(ahead, { ...event, at: '2026-11-15T12:05:00.000Z' })
  assert.equal(readEvent({ ...sent, time: '2026-11-15T12:05:00.001Z' }, known), 'time_in_the_future')
})

test('what a unique meter counts is a number or a text of at most 256 characters', () => {
  const member = (value: unknown) => {
    const read = readEvent({ ...sent, type: 'users', data: { value } }, known)
    return typeof read === 'string' ? read : [read.value, read.member]
  }
  assert.deepEqual(member('u-1'), [null, 'u-1'])
  assert.deepEqual(member(7.5), [null, '7.5'])
  assert.deepEqual(member('x'.repeat(256)), [null, 'x'.repeat(256)])
  for (const value of ['x'.repeat(257), '', 'a\0', '\ud800', null, [], undefined])
    assert.equal(member(value), 'value_not_countable')
  assert.equal(readEvent({ ...sent, data: [] }, known), 'value_not_a_number')
  assert.equal(readEvent({ ...sent, data: { value: -0.1 } }, known), 'value_negative')
})

test('a text with NUL or half a character, as headers may bring it, is none', () => {
  for (const text of ['a\0b', '\udc00']) {
    assert.equal(readEvent({ ...sent, id: text }, known), 'invalid_id')
    assert.equal(readEvent({ ...sent, source: text }, known), 'invalid_source')
  }
  assert.equal(idOf({ id: `${'x'.repeat(300)}` }), 'x'.repeat(256))
  assert.equal(idOf({ id: '\ud800' }), '\ufffd')
  assert.equal(idOf({ id: 4 }), null)
})

test('times are RFC 3339, and days are those that the month has', () => {
  assert.equal(momentOf('2026-11-15T12:00:00Z'), '2026-11-15T12:00:00.000Z')
  assert.equal(momentOf('2026-11-15T12:00:00.123Z'), '2026-11-15T12:00:00.123Z')
  assert.equal(momentOf('2026-11-15 12:00:00.123z'), '2026-11-15T12:00:00.123Z')
  assert.equal(momentOf('2026-11-15T12:00:00.1234Z'), '2026-11-15T12:00:00.123Z')
  assert.equal(momentOf('2026-11-15t12:00:00.123456789z'), '2026-11-15T12:00:00.123Z')
  assert.equal(momentOf('2026-11-15 12:00:00+05:30'), '2026-11-15T06:30:00.000Z')
  assert.equal(momentOf('2026-11-15T23:59:59-23:59'), '2026-11-16T23:58:59.000Z')
  for (const day of ['2028-02-29', '2000-02-29', '2026-01-31', '2026-04-30', '2026-12-31'])
    assert.equal(momentOf(`${day}T00:00:00Z`), `${day}T00:00:00.000Z`)
  for (const day of [
    '2026-02-29',
    '2100-02-29',
    '2028-02-30',
    '2026-04-31',
    '2026-01-32',
    '2026-01-00',
    '2026-13-01',
  ])
    assert.equal(momentOf(`${day}T00:00:00Z`), undefined, day)
  for (const text of [
    '2026-11-15',
    '2026-11-15T12:00:00',
    '2026-11-15T12:00Z',
    '2026-11-15T24:00:00Z',
    '2026-11-15T12:60:00Z',
    '2026-11-15T12:00:60Z',
    '2026-11-15T12:00:00.Z',
    '2026-11-15T12:00:00+24:00',
    ' 2026-11-15T12:00:00Z',
    1763208000,
    {},
  ])
    assert.equal(momentOf(text), undefined, String(text))
})

test('the deployments that are looked up are those that can be, each once', () => {
  const events = [{ subject: ID }, { subject: ID.toUpperCase() }, { subject: 'x' }, { subject: 3 }, {}]
  assert.deepEqual(subjectsOf(events), [ID])
})

test('in binary mode the attributes are headers, percent-encoded, and the body is the data', () => {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': 'a%20b',
    'ce-source': '%',
    'ce-type': ['a', 'b'],
    'ce-more': 'x',
  }
  assert.deepEqual(eventOfHeaders(headers, 5), {
    ...{ specversion: '1.0', id: 'a b', source: undefined, type: undefined, subject: undefined },
    ...{ time: undefined, data: 5 },
  })
  assert.equal(eventOfHeaders({ 'ce-id': 'a' }, 5), undefined)
})
