import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { SagaKind } from '../../src/features/sagas/index.ts'
import { conflict } from '../../src/kernel/errors.ts'
import { newId } from '../../src/kernel/ids.ts'
import { deployment } from '../support/factories.ts'
import { base, kindOf, type ShownRun, start, step } from '../support/sagas.ts'
import { setup } from '../support/setup.ts'

/** A workflow about a deployment, as the real ones are. */
const about: SagaKind = {
  kind: 'about_deployment',
  inputs: Type.Object(
    {
      deployment_id: Type.String({ format: 'uuid' }),
      size: Type.String({ minLength: 1, default: 'small' }),
    },
    { additionalProperties: false },
  ),
  async prepare(tx, inputs) {
    const row = await tx
      .selectFrom('cloud_deployments')
      .select(['id', 'tenant_id', 'region'])
      .where('id', '=', String(inputs.deployment_id))
      .executeTakeFirst()
    if (!row) throw conflict('conflict', 'There is no such deployment.')
    return {
      businessKey: row.id,
      deploymentId: row.id,
      tenantId: row.tenant_id,
      inputs: { ...inputs, region: row.region },
    }
  },
  steps: [step('a', []), step('b', [])],
}

const plain = kindOf('plain', [step('a', [])])
const kinds = () => [about, plain]

test('starting a workflow answers 202 with the run, where to find it, the contract’s fields, and who asked for it', async t => {
  const bundle = await setup(t, { sagaKinds: kinds })
  const { id: deployment_id } = await deployment(bundle)
  const { status, headers, body } = await bundle.call('POST', base, {
    body: { kind: 'about_deployment', inputs: { deployment_id } },
  })
  const run: ShownRun = body.data
  assert.equal(status, 202)
  assert.equal(headers.get('location'), `${base}/${run.id}`)
  assert.deepEqual(Object.keys(run), [
    'id',
    'kind',
    'status',
    'step_modules',
    'current_step_index',
    'inputs',
    'context',
    'cancel_requested',
    'error',
    'created_at',
    'started_at',
    'finished_at',
    'actor',
    'cancel_requested_by',
    'steps',
  ])
  assert.equal(run.actor, 'ada')
  assert.match(run.created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  // Defaults of the schema, and what the workflow worked out.
  assert.deepEqual(run.inputs, { deployment_id, size: 'small', region: 'nyc3' })
  assert.deepEqual((await bundle.call('GET', headers.get('location')!)).body.data, run)

  // The same thing again is the same run; and so it is for the same Idempotency-Key, whatever has become of it.
  const again = await bundle.call('POST', base, {
    body: { kind: 'about_deployment', inputs: { deployment_id, size: 'large' } },
  })
  assert.deepEqual([again.status, again.body.data.id, again.body.data.inputs.size], [202, run.id, 'small'])
  const keyed = () =>
    bundle.call('POST', base, {
      body: { kind: 'plain', inputs: { key: 'x' } },
      headers: { 'idempotency-key': 'one' },
    })
  const first = await keyed()
  await bundle.ctx.db
    .updateTable('saga_runs')
    .set({ status: 'completed', finished_at: first.body.data.created_at })
    .where('id', '=', first.body.data.id)
    .execute()
  assert.equal((await keyed()).body.data.id, first.body.data.id)
  assert.notEqual((await start(bundle, 'plain', { key: 'x' })).id, first.body.data.id, 'it had ended')
})

test('what a workflow does not take is refused, naming what is wrong, and nothing is started', async t => {
  const bundle = await setup(t, { sagaKinds: kinds })
  const attempt = (body: unknown) => bundle.call('POST', base, { body })
  const pointers = async (body: unknown) => {
    const { status, body: problem } = await attempt(body)
    return [status, ...(problem.errors ?? []).map((error: { pointer: string }) => error.pointer)]
  }
  assert.deepEqual(await pointers({ kind: 'nonsense', inputs: {} }), [422, '/kind'])
  assert.deepEqual(await pointers({ kind: 'plain' }), [422, '/inputs'])
  assert.deepEqual(await pointers({ kind: 'plain', inputs: [] }), [422, '/inputs'])
  assert.deepEqual(await pointers({ kind: 'plain', inputs: {} }), [422, '/inputs/key'])
  assert.deepEqual(await pointers({ kind: 'plain', inputs: { key: 1 } }), [422, '/inputs/key'])
  assert.deepEqual(await pointers({ kind: 'plain', inputs: { key: 'x', colour: 'red' } }), [
    422,
    '/inputs/colour',
  ])
  assert.deepEqual(await pointers({ kind: 'plain', inputs: { key: 'x' }, more: 1 }), [422, '/more'])
  const refused = await attempt({ kind: 'about_deployment', inputs: { deployment_id: newId() } })
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  assert.deepEqual((await bundle.call('GET', base)).body.data, [])
})

test('runs are listed newest first, page by page, and by status, kind and deployment', async t => {
  const bundle = await setup(t, { sagaKinds: kinds })
  const { id: deployment_id } = await deployment(bundle)
  const made: string[] = []
  for (let i = 0; i < 4; i++) made.unshift((await start(bundle, 'plain')).id)
  const { id: tied } = (
    await bundle.call('POST', base, { body: { kind: 'about_deployment', inputs: { deployment_id } } })
  ).body.data
  await bundle.ctx.db
    .updateTable('saga_runs')
    .set({ status: 'completed', finished_at: '2026-11-15T12:00:00.000Z' })
    .where('id', '=', made[1]!)
    .execute()
  const ids = async (query: string) => {
    const { status, body, text } = await bundle.call('GET', `${base}?${query}`)
    assert.equal(status, 200, text)
    return body.data.map((run: ShownRun) => run.id)
  }
  assert.deepEqual(await ids(''), [tied, ...made])
  assert.deepEqual(await ids('status=completed'), [made[1]])
  assert.deepEqual(await ids('kind=plain&status=pending'), [made[0], made[2], made[3]])
  assert.deepEqual(await ids(`deployment_id=${deployment_id}`), [tied])
  assert.deepEqual(await ids(`deployment_id=${newId()}`), [])

  const page = await bundle.call('GET', `${base}?limit=2`)
  await start(bundle, 'plain')
  assert.equal('steps' in page.body.data[0], false)
  assert.match(page.headers.get('link')!, /rel="next"/)
  assert.deepEqual(await ids(`limit=10&cursor=${page.body.next_cursor}`), made.slice(1))
  assert.equal((await bundle.call('GET', `${base}?status=nonsense`)).status, 422)
})

test('a tenant reads the runs of its own deployments, without what is the operator’s, and starts and cancels none', async t => {
  const bundle = await setup(t, { sagaKinds: kinds })
  const { call, ctx, tokens } = bundle
  const [acme, globex] = [await tokens.tenant('acme'), await tokens.tenant('globex')]
  const ordered = async (tenant: string) => {
    const { id: deployment_id } = await deployment(bundle, tenant)
    const { body } = await call('POST', base, {
      body: { kind: 'about_deployment', inputs: { deployment_id } },
    })
    return { deployment_id, id: body.data.id as string }
  }
  const [own, second, foreign] = [await ordered('acme'), await ordered('acme'), await ordered('globex')]
  const { id: nobodys } = await start(bundle, 'plain')
  const secret = 'the account 4711 may have no more droplets'
  await ctx.db
    .updateTable('saga_runs')
    .set({
      status: 'rolled_back',
      finished_at: '2026-11-15T12:00:00.000Z',
      context: JSON.stringify({ droplet_id: secret }),
      error: JSON.stringify({ step_idx: 1, step: 'b', reason: secret }),
    })
    .where('id', '=', own.id)
    .execute()
  const done = { saga_id: own.id, attempts: 1, compensation_interruptions: 0, compensated_at: null }
  const at = { started_at: '2026-11-15T11:59:00.000Z', finished_at: '2026-11-15T12:00:00.000Z' }
  const output = JSON.stringify({ droplet_id: secret })
  await ctx.db
    .insertInto('saga_step_results')
    .values([
      { ...done, ...at, step_idx: 0, name: 'a', status: 'compensated', output, error: null },
      { ...done, ...at, step_idx: 1, name: 'b', status: 'failed', output: 'null', error: secret },
    ])
    .execute()

  const page = await call('GET', `${base}?limit=1`, { token: acme })
  assert.deepEqual([page.status, page.body.data.length, page.body.data[0].id], [200, 1, second.id], page.text)
  const rest = await call('GET', `${base}?limit=1&cursor=${page.body.next_cursor}`, { token: acme })
  const ids = (answer: { body: { data: ShownRun[] } }) => answer.body.data.map(run => run.id)
  assert.deepEqual([ids(rest), rest.body.next_cursor], [[own.id], null])
  assert.deepEqual(ids(await call('GET', base, { token: globex })), [foreign.id])
  assert.deepEqual(ids(await call('GET', `${base}?tenant_id=acme`)), [second.id, own.id])
  assert.deepEqual(ids(await call('GET', `${base}?tenant_id=acme&status=pending`, { token: acme })), [
    second.id,
  ])
  assert.deepEqual(
    ids(await call('GET', `${base}?deployment_id=${foreign.deployment_id}`, { token: acme })),
    [],
  )
  assert.equal((await call('GET', `${base}?tenant_id=globex`, { token: acme })).status, 403)

  const full = (await call('GET', `${base}/${own.id}`)).body.data
  const shown = await call('GET', `${base}/${own.id}`, { token: acme })
  const reason = 'The operator of the platform can see why.'
  assert.equal(shown.status, 200, shown.text)
  assert.deepEqual(shown.body.data, {
    ...full,
    context: {},
    error: { step_idx: 1, step: 'b', reason },
    actor: null,
    steps: [
      { ...full.steps[0], output: null },
      { ...full.steps[1], output: null, error: reason },
    ],
  })
  assert.ok(full.inputs.deployment_id === own.deployment_id && JSON.stringify(full).includes('4711'))
  assert.ok(!(shown.text + page.text + rest.text).includes('4711'))
  const { steps, actor, cancel_requested_by, ...listed } = shown.body.data
  assert.deepEqual(rest.body.data, [listed])

  const ledger = await call('GET', `${base}/${own.id}/steps`, { token: acme })
  assert.deepEqual(ledger.body.data, shown.body.data.steps)
  for (const id of [foreign.id, nobodys, newId()])
    for (const path of [`${base}/${id}`, `${base}/${id}/steps`])
      assert.equal((await call('GET', path, { token: acme })).status, 404, path)
  for (const [path, body] of [
    [base, { kind: 'plain', inputs: { key: 'x' } }],
    [`${base}/${second.id}/cancel`, undefined],
    [`${base}/${foreign.id}/cancel`, undefined],
    [`/api/v1/deployments/${own.deployment_id}/provision`, { size: 's', image: 'i' }],
    [`/api/v1/deployments/${own.deployment_id}/deprovision`, undefined],
  ] as const)
    assert.equal((await call('POST', path, { token: acme, body })).status, 403, path)
  assert.equal((await call('GET', `${base}/leaks`, { token: acme })).status, 403)
})

test('the steps of a run are paged through in order, and left out of the run when that is asked for', async t => {
  const bundle = await setup(t, { sagaKinds: kinds })
  const { call, ctx } = bundle
  const { id } = await start(bundle, 'plain')
  assert.deepEqual((await call('GET', `${base}/${id}/steps`)).body.data, [])
  await sql`insert into saga_step_results (saga_id, step_idx, name, status, started_at, finished_at, compensated_at)
    select ${id}, n, 'step ' || n, 'compensated', '2026-11-15T11:00:00Z', '2026-11-15T11:00:02.500Z', '2026-11-15T11:30:00Z'
    from generate_series(0, 24) n`.execute(ctx.db)
  const { data: whole } = (await call('GET', `${base}/${id}`)).body
  assert.equal(whole.steps.length, 25)
  assert.deepEqual(
    [whole.steps[3].name, whole.steps[3].duration_ms, whole.steps[3].compensated_at],
    ['step 3', 2500, '2026-11-15T11:30:00.000Z'],
  )
  const paged: object[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await call('GET', `${base}/${id}/steps?limit=10${cursor && `&cursor=${cursor}`}`)
    paged.push(...body.data)
    cursor = body.next_cursor
  }
  assert.deepEqual(paged, whole.steps)
  const part = (await call('GET', `${base}/${id}/steps?from=12&limit=3`)).body
  assert.deepEqual(part.data, whole.steps.slice(12, 15))
  const next = await call('GET', `${base}/${id}/steps?from=12&limit=3&cursor=${part.next_cursor}`)
  assert.deepEqual(next.body.data, whole.steps.slice(15, 18))
  assert.equal((await call('GET', `${base}/${id}/steps?from=-1`)).status, 422)
  assert.deepEqual((await call('GET', `${base}/${id}?steps=false`)).body.data, { ...whole, steps: [] })
  assert.equal((await call('GET', `${base}/${id}?steps=no`)).status, 422)
})

test('a run that is not there is 404', async t => {
  const { call } = await setup(t, { sagaKinds: kinds })
  for (const [method, path] of [
    ['GET', `${base}/${newId()}`],
    ['GET', `${base}/nonsense`],
    ['GET', `${base}/${newId()}/steps`],
    ['POST', `${base}/${newId()}/cancel`],
    ['POST', `${base}/nonsense/cancel`],
  ] as const)
    assert.equal((await call(method, path)).status, 404, `${method} ${path}`)
})
