import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { deployment } from '../support/factories.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { event, meterOf, send } from '../support/usage-events.ts'

const NOW = '2026-11-15T12:00:00.000Z'

/** The hours of a deployment: meter, hour, sum, largest and last. */
const hours = async ({ ctx }: Bundle, id: string) => {
  const { rows } = await sql<Record<string, string>>`
    select meter, iso8601(hour) as hour, trim_scale(total)::text as total, trim_scale(highest)::text as highest,
      trim_scale(last)::text as last
    from usage_meter_hours where deployment_id = ${id} order by meter, hour`.execute(ctx.db)
  return rows.map(row => [row.meter, row.hour, row.total, row.highest, row.last])
}

const raw = (bundle: Bundle, type: string, body: unknown, headers: Record<string, string> = {}) =>
  bundle.call('POST', '/api/v1/usage-events', {
    body,
    headers: { 'content-type': type, ...headers },
  })

test('events are taken one by one, in lists, as CloudEvents says, and in binary mode', async t => {
  const bundle = await setup(t)
  bundle.clock.set(NOW)
  await meterOf(bundle, { code: 'llm_tokens' })
  const { id } = await deployment(bundle)
  const one = (name: string) => event(id, { id: name, data: { value: 1 } })
  const one_new = { new: 1, known: 0, refused: [] }
  assert.deepEqual(await send(bundle, one('a')), one_new)
  assert.deepEqual(await send(bundle, [one('b'), one('c')]), { ...one_new, new: 2 })
  const structured = await raw(bundle, 'application/cloudevents+json; charset=utf-8', one('d'))
  assert.deepEqual([structured.status, structured.body.data], [202, one_new])
  const batch = await raw(bundle, 'application/cloudevents-batch+json', [one('e')])
  assert.deepEqual([batch.status, batch.body.data], [202, one_new])
  const binary = await raw(
    bundle,
    'application/json',
    { value: 1 },
    {
      'ce-specversion': '1.0',
      'ce-id': '%C3%A4',
      'ce-source': '/gateway',
      'ce-type': 'llm_tokens',
      'ce-subject': id,
      'ce-time': NOW,
    },
  )
  assert.deepEqual([binary.status, binary.body.data], [202, one_new])
  assert.deepEqual(await send(bundle, event(id, { id: 'ä', source: '/gateway' })), {
    ...one_new,
    new: 0,
    known: 1,
  })
  assert.deepEqual(await hours(bundle, id), [['llm_tokens', NOW, '6', '1', null]])

  const other = await bundle.call('POST', '/api/v1/deployments', {
    body: {},
    headers: { 'content-type': 'application/cloudevents+json' },
  })
  assert.equal(other.status, 415)
})

test('an event is known by its source and id for good, among those of its tenant', async t => {
  const bundle = await setup(t)
  bundle.clock.set(NOW)
  await meterOf(bundle, { code: 'llm_tokens' })
  const [mine, too, others] = [
    await deployment(bundle),
    await deployment(bundle),
    await deployment(bundle, 'globex'),
  ]
  const first = event(mine.id, { id: '1', data: { value: 5 } })
  assert.deepEqual(await send(bundle, [first, { ...first, data: { value: 7 } }]), {
    new: 1,
    known: 1,
    refused: [],
  })
  bundle.clock.set('2027-02-01T00:00:00Z')
  assert.equal((await send(bundle, first)).known, 1)
  assert.equal((await send(bundle, { ...first, subject: too.id, time: '2027-01-31T00:00:00Z' })).known, 1)
  assert.equal((await send(bundle, { ...first, source: '/elsewhere' })).new, 1)
  assert.equal((await send(bundle, { ...first, subject: others.id })).new, 1)
  assert.deepEqual(await hours(bundle, mine.id), [['llm_tokens', NOW, '10', '5', null]])
  await assert.rejects(sql`update usage_events set value = 0`.execute(bundle.ctx.db), /append-only/)
  await assert.rejects(sql`delete from usage_events`.execute(bundle.ctx.db), /append-only/)
})

test('what cannot be counted is named with its place and reason, and the rest counts', async t => {
  const bundle = await setup(t)
  bundle.clock.set(NOW)
  await meterOf(bundle, { code: 'llm_tokens' })
  await meterOf(bundle, { code: 'seats', aggregation: 'unique' })
  const { id } = await deployment(bundle)
  const cases: [object, string][] = [
    [{ specversion: '0.3' }, 'unsupported_specversion'],
    [{ specversion: undefined }, 'unsupported_specversion'],
    [{ id: '' }, 'invalid_id'],
    [{ id: 7 }, 'invalid_id'],
    [{ id: 'x'.repeat(257) }, 'invalid_id'],
    [{ source: undefined }, 'invalid_source'],
    [{ source: 'x'.repeat(257) }, 'invalid_source'],
    [{ type: 'words' }, 'unknown_meter'],
    [{ type: 'constructor' }, 'unknown_meter'],
    [{ subject: 'my-app' }, 'unknown_deployment'],
    [{ subject: '01980000-0000-7000-8000-000000000000' }, 'unknown_deployment'],
    [{ subject: undefined }, 'unknown_deployment'],
    [{ time: 'yesterday' }, 'invalid_time'],
    [{ time: '2026-02-29T00:00:00Z' }, 'invalid_time'],
    [{ time: 1763208000 }, 'invalid_time'],
    [{ time: '2026-11-15T12:05:00.001Z' }, 'time_in_the_future'],
    [{ time: '2026-10-31T23:59:59.999Z' }, 'time_before_deployment'],
    [{ data: { value: '5' } }, 'value_not_a_number'],
    [{ data: { value: null } }, 'value_not_a_number'],
    [{ data: 5 }, 'value_not_a_number'],
    [{ data: undefined }, 'value_not_a_number'],
    [{ data: { value: -1 } }, 'value_negative'],
    [{ type: 'seats', data: { value: '' } }, 'value_not_countable'],
    [{ type: 'seats', data: { value: true } }, 'value_not_countable'],
  ]
  const events = cases.map(([fields], index) => event(id, { id: `e${index}`, ...fields }))
  const good = [
    event(id, { id: 'ahead', time: '2026-11-15T12:05:00Z' }),
    event(id, { id: 'first', time: '2026-11-01T01:00:00+01:00' }),
    event(id.toUpperCase(), {
      id: 'x'.repeat(256),
      time: undefined,
      extension: 'any',
      data: { value: 0, more: {} },
    }),
    event(id, { id: 'user', type: 'seats', data: { value: 'u-1' } }),
  ]
  const answer = await send(bundle, [...events, ...good])
  assert.deepEqual(
    answer.refused.map(({ index, code }: { index: number; code: string }) => [index, code]),
    cases.map(([, code], index) => [index, code]),
  )
  assert.deepEqual([answer.new, answer.known], [good.length, 0])
  const [first, , , seventh] = answer.refused
  assert.deepEqual(first, {
    index: 0,
    id: 'e0',
    code: 'unsupported_specversion',
    message: 'Only version 1.0 of CloudEvents is taken: `"specversion": "1.0"`.',
  })
  assert.equal(seventh.id, null)
})

test('a body that is no list of 1 to 1,000 events is refused whole, and one that is too large is told the limit', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  for (const body of [
    {},
    { data: { value: 1 } },
    [],
    [1],
    7,
    'x',
    Array.from({ length: 1001 }, () => ({})),
  ]) {
    const { status, body: problem } = await call('POST', '/api/v1/usage-events', { body })
    assert.deepEqual([status, problem.code], [422, 'validation_failed'])
  }
  const large = await call('POST', '/api/v1/usage-events', { body: [{ id: 'x'.repeat(600_000) }] })
  assert.deepEqual([large.status, large.body.code], [413, 'payload_too_large'])
  assert.match(large.body.detail, /512 KiB/)
})

test('a tenant sends for its own deployments, by token or key, with the permission; an operator for any', async t => {
  const bundle = await setup(t)
  const { call, tokens, clock } = bundle
  clock.set(NOW)
  await meterOf(bundle, { code: 'llm_tokens' })
  const [mine, others] = [await deployment(bundle, 'acme'), await deployment(bundle, 'globex')]
  const both = [event(mine.id, { id: '1' }), event(others.id, { id: '2' })]
  const refused = [
    {
      index: 1,
      id: '2',
      code: 'unknown_deployment',
      message: 'The subject is not the id of a deployment of yours.',
    },
  ]
  const token = await tokens.tenant('acme')
  assert.deepEqual(await send(bundle, both, token), { new: 1, known: 0, refused })

  for (const [name, permissions] of [
    ['meter', ['usage_events:write']],
    ['keeper', ['users:write']],
    ['viewer', ['*:read', 'deployments:write']],
  ] as const)
    assert.equal((await call('POST', '/api/v1/admin/roles', { body: { name, permissions } })).status, 201)
  const viewer = await tokens.tenant('acme', { role: 'viewer' })
  const unpermitted = await call('POST', '/api/v1/usage-events', { token: viewer, body: both })
  assert.equal(unpermitted.status, 403)
  assert.match(unpermitted.body.detail, /usage_events:write/)
  const owner = await tokens.tenant('acme', { sub: 'm', role: ['meter', 'keeper'] })
  const made = await call('POST', '/api/v1/users/m/api_keys', { token: owner, body: {} })
  assert.equal(made.status, 201, made.text)
  const meter = made.body.data.api_key
  assert.deepEqual(await send(bundle, both, meter), { new: 0, known: 1, refused })
  assert.equal((await call('GET', '/api/v1/deployments', { token: meter })).status, 403)

  assert.deepEqual(await send(bundle, both), { new: 1, known: 1, refused: [] })
})

test('the last value is that of the latest time, whatever came last; among those of one moment the greatest id', async t => {
  const bundle = await setup(t)
  bundle.clock.set(NOW)
  await meterOf(bundle, { code: 'seats', aggregation: 'last' })
  const { id } = await deployment(bundle)
  const at = (name: string, time: string, value: number) =>
    event(id, { id: name, type: 'seats', time: `2026-11-15T${time}Z`, data: { value } })
  await send(bundle, [at('b', '10:30:00', 3), at('a', '10:30:00', 9), at('c', '10:10:00', 7)])
  assert.deepEqual(await hours(bundle, id), [['seats', '2026-11-15T10:00:00.000Z', '19', '9', '3']])
  await send(bundle, [at('z', '10:29:59', 1), at('0', '10:30:00', 2)])
  assert.deepEqual((await hours(bundle, id))[0]!.at(-1), '3')
  await send(bundle, at('d', '10:30:00.001', 0.1))
  assert.deepEqual(await hours(bundle, id), [['seats', '2026-11-15T10:00:00.000Z', '22.1', '9', '0.1']])
})

test('requests with events are counted apart from the others, and refused beyond their limit', async t => {
  const bundle = await setup(t, {
    env: { USAGE_REQUESTS_PER_MINUTE: '2', RATE_LIMIT_PER_MINUTE: '3' },
    keys: false,
  })
  bundle.clock.set(NOW)
  const { call, tokens } = bundle
  const token = await tokens.tenant('acme')
  const status = async () => (await call('POST', '/api/v1/usage-events', { token, body: [{}] })).status
  assert.deepEqual([await status(), await status(), await status()], [202, 202, 429])
  assert.equal((await call('GET', '/api/v1/deployments', { token })).status, 200)
})

test('a batch leaves one entry in the audit log, and none when all of it was known', async t => {
  const bundle = await setup(t)
  bundle.clock.set(NOW)
  await meterOf(bundle, { code: 'llm_tokens' })
  const { id } = await deployment(bundle)
  const events = [event(id, { id: '1' }), event(id, { id: '2' })]
  await send(bundle, events)
  await send(bundle, events)
  const { body } = await bundle.call('GET', '/api/v1/admin/audit_log?subject_type=usage_events')
  assert.deepEqual(
    body.data.map((entry: Record<string, unknown>) => [
      entry.operation,
      entry.subject_id,
      entry.tenant_id,
      entry.after,
    ]),
    [['sendUsageEvents', id, 'acme', { new: 2 }]],
  )
})
