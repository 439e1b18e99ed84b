// Budgets over HTTP: who may see and change which, and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/kernel/ids.ts'
import { budget } from '../support/budgets.ts'
import { deployment } from '../support/factories.ts'
import { setup } from '../support/setup.ts'

const base = '/api/v1/budgets'

test('a budget is made, listed, changed and deleted, and each is in the audit log', async t => {
  const bundle = await setup(t)
  const { call } = bundle
  const { id, ...made } = await budget(bundle, { name: 'All', thresholds: [{ percent: 90, on: 'forecast' }] })
  assert.deepEqual(made, {
    ...{ name: 'All', tenant_id: null, deployment_id: null, measure: 'cost', amount_minor: 10_000 },
    ...{ currency: 'USD', period: '2026-11', actual_minor: null, forecast_minor: null, estimated: null },
    ...{ other_currencies: [], looked_at: null },
    thresholds: [{ percent: 90, on: 'forecast', reached_at: null }],
    ...{ created_by: made.created_by, created_at: made.created_at, updated_at: made.updated_at },
  })
  const { body } = await call('PATCH', `${base}/${id}`, {
    body: { name: 'Everything', amount_minor: 5, currency: 'EUR' },
  })
  const { name, amount_minor, currency } = body.data
  assert.deepEqual([name, amount_minor, currency], ['Everything', 5, 'EUR'])
  assert.deepEqual((await call('GET', base)).body.data, [body.data])
  assert.equal((await call('DELETE', `${base}/${id}`)).status, 204)
  assert.deepEqual((await call('GET', base)).body.data, [])
  const { body: log } = await call('GET', `/api/v1/admin/audit_log?subject_type=budgets`)
  assert.deepEqual(
    log.data
      .map((entry: { action: string; after: object | null }) => [entry.action, entry.after])
      .slice(0, 2),
    [
      ['deleted', null],
      ['updated', { name: 'Everything', amount_minor: 5, currency: 'EUR' }],
    ],
  )
})

test('a tenant sees, makes, changes and deletes its own budgets, and no other’s', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const [acme, other] = [await tokens.tenant('acme'), await tokens.tenant('other')]
  const account = await budget(bundle, {})
  const own = await budget(bundle, { name: 'Own' }, acme)
  assert.deepEqual([own.tenant_id, own.measure], ['acme', 'charge'])
  const { id: deployment_id } = await deployment(bundle, 'acme')
  const given = await budget(bundle, { deployment_id })
  assert.equal(given.tenant_id, 'acme')
  const listed = async (token?: string, query = '') => {
    const { body } = await call('GET', `${base}${query}`, { token })
    return body.data.map((row: { id: string }) => row.id)
  }
  assert.deepEqual(await listed(acme), [given.id, own.id])
  assert.deepEqual(await listed(acme, '?tenant_id=acme&measure=charge'), [given.id, own.id])
  assert.deepEqual(await listed(acme, `?deployment_id=${deployment_id}`), [given.id])
  assert.deepEqual(await listed(other), [])
  assert.deepEqual(await listed(undefined), [given.id, own.id, account.id])
  assert.deepEqual(await listed(undefined, '?measure=cost'), [account.id])
  assert.equal((await call('GET', `${base}?tenant_id=acme`, { token: other })).status, 403)

  for (const [token, id] of [
    [other, own.id],
    [acme, account.id],
    [acme, newId()],
  ]) {
    const answers = [
      await call('GET', `${base}/${id}`, { token }),
      await call('GET', `${base}/${id}/alerts`, { token }),
      await call('PATCH', `${base}/${id}`, { token, body: { name: 'Mine' } }),
      await call('DELETE', `${base}/${id}`, { token }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404, 404],
    )
  }
  assert.equal((await call('GET', `${base}/${own.id}`, { token: acme })).body.data.name, 'Own')
  assert.deepEqual((await call('GET', `${base}/${own.id}/alerts`, { token: acme })).body.data, [])
  assert.equal((await call('DELETE', `${base}/${own.id}`, { token: acme })).status, 204)
})

test('a budget for another tenant or its deployment, or that makes no sense, is refused', async t => {
  const bundle = await setup(t)
  const { call, tokens } = bundle
  const token = await tokens.tenant('acme')
  const { id: foreign } = await deployment(bundle, 'other')
  const make = async (fields: object, as?: string) => {
    const body = { name: 'One', amount_minor: 100, ...fields }
    const { status, body: problem } = await call('POST', base, { body, token: as })
    return [status, problem.errors?.[0].pointer]
  }
  assert.deepEqual(await make({ tenant_id: 'other' }, token), [403, undefined])
  assert.deepEqual(await make({ deployment_id: foreign }, token), [422, '/deployment_id'])
  assert.deepEqual(await make({ deployment_id: newId() }, token), [422, '/deployment_id'])
  assert.deepEqual(await make({ deployment_id: foreign, tenant_id: 'acme' }), [422, '/tenant_id'])
  assert.deepEqual(await make({ amount_minor: 0 }), [422, '/amount_minor'])
  assert.deepEqual(await make({ currency: 'XXX' }), [422, '/currency'])
  assert.deepEqual(await make({ thresholds: [] }), [422, '/thresholds'])
  const twice = { percent: 1, on: 'actual' }
  assert.deepEqual(await make({ thresholds: [twice, twice] }), [422, '/thresholds'])
  assert.deepEqual(await make({ thresholds: [{ percent: 0, on: 'actual' }] }), [422, '/thresholds/0/percent'])
})

test('a tenant has a hundred budgets at most; operators make any number', async t => {
  const bundle = await setup(t)
  const token = await bundle.tokens.tenant('acme')
  await budget(bundle, { tenant_id: 'acme' })
  await sql`insert into budgets (id, name, tenant_id, measure, amount_minor, currency, thresholds, created_by, created_at, updated_at)
    select uuid_v7(), name, tenant_id, measure, amount_minor, currency, thresholds, created_by, created_at, updated_at
    from budgets, generate_series(3, 100)`.execute(bundle.ctx.db)
  await budget(bundle, {}, token)
  const { status, body } = await bundle.call('POST', base, { body: { name: 'x', amount_minor: 1 }, token })
  assert.deepEqual([status, body.code], [409, 'budget_limit'])
  await budget(bundle, {}, await bundle.tokens.tenant('other'))
  await budget(bundle, { tenant_id: 'acme' })
})
