// The overview counts what needs attention, as far as the caller may know of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { isStale } from '../../src/features/overview/overview.ts'
import { firstIdAt, newId } from '../../src/kernel/ids.ts'
import { haveIngested, haveInvoice } from '../support/billing.ts'
import { desire, droplet, sweepDrift } from '../support/drift.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { haveProject, see, sweepOne } from '../support/sweep.ts'

const base = '/api/v1/overview'

async function overview({ call }: Bundle, token?: string) {
  const { status, body, text } = await call('GET', base, { ...(token && { token }) })
  assert.equal(status, 200, text)
  return body.data
}

interface Mirrored {
  kind: string
  complete_at: string | null
  stale: boolean
  resources: number | null
  last_run: { id: string; status: string } | null
}

const kindIn = ({ mirror }: { mirror: Mirrored[] }, kind: string) => mirror.find(one => one.kind === kind)!

async function haveRun({ ctx }: Bundle, status: string, tenant: string | null, id = newId()) {
  const ended = status === 'failed' || status === 'rolled_back'
  await sql`
    insert into saga_runs (id, kind, status, step_modules, inputs, business_key, tenant_id, actor, job_id, heartbeat_at,
      created_at, finished_at)
    values (${id}, 'test', ${status}, '{}', '{}', ${newId()}, ${tenant}, 'test', ${newId()}, now(), now(),
      ${ended ? '2026-11-15T12:00:00Z' : null})`.execute(ctx.db)
}

test('an empty service has nothing that needs attention but a mirror that was never whole', async t => {
  const bundle = await setup(t)
  const { mirror, ...counts } = await overview(bundle)
  assert.ok(mirror.length > 10)
  for (const kind of mirror)
    assert.deepEqual([kind.complete_at, kind.stale, kind.resources, kind.last_run], [null, true, null, null])
  assert.deepEqual(counts, {
    sagas: {
      pending: 0,
      running: 0,
      compensating: 0,
      failed: 0,
      rolled_back: 0,
      since: '2026-11-08T12:00:00.000Z',
    },
    drift: { open: 0, by_field: [] },
    dead_letters: 0,
    scheduled_tasks: { paused: 0, failed: 0 },
    invoices: { not_ingested: 0, ingest_failed: 0, not_pushed: null, not_reconciled: 0 },
  })
})

test('the mirror tells of each kind when it was last whole, what that sweep saw and how the last run went', async t => {
  const bundle = await setup(t, { provider: {} })
  const run = await sweepOne(bundle, 'droplet')
  const fresh = kindIn(await overview(bundle), 'droplet')
  assert.deepEqual(
    [fresh.complete_at, fresh.stale, fresh.resources, fresh.last_run?.id, fresh.last_run?.status],
    [run.started_at, false, run.seen, run.id, 'complete'],
  )
  assert.ok(run.seen > 0)
  bundle.clock.advance(2 * 60 * 60_000 + 1)
  bundle.sandbox.faults.add({ fault: 'server_error', times: 1_000, match: { path: '/v2/droplets' } })
  await sweepOne(bundle, 'droplet').catch(() => {})
  const stale = kindIn(await overview(bundle), 'droplet')
  assert.deepEqual([stale.complete_at, stale.stale, stale.resources], [run.started_at, true, run.seen])
  assert.equal(stale.last_run?.status, 'failed')
})

test('a kind is stale when its last whole sweep is more than two hours ago', () => {
  const now = new Date('2026-11-15T12:00:00.000Z')
  assert.equal(isStale('2026-11-15T10:00:00.000Z', now), false)
  assert.equal(isStale('2026-11-15T09:59:59.999Z', now), true)
  assert.equal(isStale(null, now), true)
})

test('open drift is counted by kind and field, and closed drift is not', async t => {
  const bundle = await setup(t)
  for (const provider_id of ['1', '2']) {
    const id = await droplet(bundle, { provider_id, name: `web-${provider_id}` })
    await desire(bundle, id, { name: 'other', region: 'xyz1' })
    if (provider_id === '2') await desire(bundle, id, { name: 'other' })
  }
  await sweepDrift(bundle)
  const { drift } = await overview(bundle)
  assert.deepEqual(drift, {
    open: 3,
    by_field: [
      { kind: 'droplet', field: 'name', open: 2 },
      { kind: 'droplet', field: 'region', open: 1 },
    ],
  })
  const { body } = await bundle.call('GET', '/api/v1/drift')
  await bundle.call('POST', `/api/v1/drift/${body.data[0].id}/accept`)
  assert.equal((await overview(bundle)).drift.open, 2)
})

test('runs under way are counted, and those of the last seven days that did not complete', async t => {
  const bundle = await setup(t)
  const since = new Date('2026-11-08T12:00:00.000Z')
  const before = firstIdAt(since.getTime() - 1)
  await haveRun(bundle, 'pending', null, before)
  await haveRun(bundle, 'running', 'acme')
  await haveRun(bundle, 'running', null)
  await haveRun(bundle, 'compensating', 'globex')
  await haveRun(bundle, 'failed', 'acme', firstIdAt(since.getTime()))
  await haveRun(bundle, 'failed', 'acme', before.replace(/0$/, '1'))
  await haveRun(bundle, 'rolled_back', 'globex')
  const { since: from, ...counts } = (await overview(bundle)).sagas
  assert.equal(from, since.toISOString())
  assert.deepEqual(counts, { pending: 1, running: 2, compensating: 1, failed: 1, rolled_back: 1 })
  const own = (await overview(bundle, await bundle.tokens.tenant('acme'))).sagas
  assert.deepEqual([own.pending, own.running, own.compensating, own.failed, own.rolled_back], [0, 1, 0, 1, 0])
})

test('invoices are counted that have no lines, do not add up or are unknown to finance, and listed by that', async t => {
  const bundle = await setup(t, { finance: {} })
  await haveInvoice(bundle, { ingest_status: 'failed', ingest_error: 'line 3', period: '2026-07-01' })
  const odd = await haveIngested(bundle, undefined, { period: '2026-08-01' })
  const pushed = await haveIngested(bundle, undefined, { period: '2026-09-01' })
  await haveIngested(bundle)
  await sql`update cloud_invoices set reconciled = false where id = ${odd}`.execute(bundle.ctx.db)
  await sql`update cloud_invoices set pushed_to_finance_at = now(), finance_invoice_id = 'f', pushed_lines_hash = lines_hash
    where id = ${pushed}`.execute(bundle.ctx.db)
  assert.deepEqual((await overview(bundle)).invoices, {
    not_ingested: 1,
    ingest_failed: 1,
    not_pushed: 2,
    not_reconciled: 1,
  })
  const months = async (query: string) => {
    const { body } = await bundle.call('GET', `/api/v1/billing/invoices?${query}`)
    return body.data.map(({ period }: { period: string }) => period.slice(5, 7))
  }
  assert.deepEqual(await months('reconciled=false'), ['08'])
  assert.deepEqual(await months('reconciled=true'), ['10', '09'])
  assert.deepEqual(await months('finance_status=not_pushed'), ['10', '08'])
  assert.deepEqual(await months('finance_status=pushed'), ['09'])
  assert.deepEqual(await months('finance_status=not_ingested'), ['07'])
  assert.deepEqual(await months('finance_status=not_pushed&reconciled=false'), ['08'])
  assert.equal((await bundle.call('GET', '/api/v1/billing/invoices?finance_status=x')).status, 422)
})

test('dead letters, paused tasks and tasks whose last run failed are counted', async t => {
  const bundle = await setup(t)
  const { ctx, call } = bundle
  await call('POST', '/api/v1/admin/scheduled_tasks/metering/pause')
  for (const [status, at] of [
    ['failed', '10'],
    ['completed', '11'],
  ])
    for (const task of ['metering', ...(status === 'failed' ? ['balance'] : [])])
      await sql`insert into task_runs (id, task, trigger, status, requested_at, finished_at)
        values (${newId()}, ${task}, 'schedule', ${status}, ${`2026-11-15T${at}:00:00Z`}, now())`.execute(
        ctx.db,
      )
  await sql`insert into pgboss.job (name, data) values ('dead_letters', '{}')`.execute(ctx.db)
  const { dead_letters, scheduled_tasks } = await overview(bundle)
  assert.deepEqual([dead_letters, scheduled_tasks], [1, { paused: 1, failed: 1 }])
})

test('a tenant is told of its own resources and runs, and of nothing that is the operator’s', async t => {
  const bundle = await setup(t)
  await haveProject(bundle, 'acme', 'acme', [['droplet', '1']])
  await haveProject(bundle, 'globex', 'globex', [
    ['droplet', '2'],
    ['droplet', '3'],
  ])
  await see(bundle, 'droplet', [
    { provider_id: '1', name: 'own' },
    { provider_id: '2', name: 'theirs' },
    { provider_id: '3', name: 'theirs too' },
  ])
  const { mirror, sagas, ...others } = await overview(bundle, await bundle.tokens.tenant('acme'))
  assert.deepEqual(others, { drift: null, dead_letters: null, scheduled_tasks: null, invoices: null })
  assert.equal(sagas.running, 0)
  const { resources, last_run } = kindIn({ mirror }, 'droplet')
  assert.deepEqual([resources, last_run, kindIn({ mirror }, 'volume').resources], [1, null, 0])
  assert.equal(kindIn({ mirror }, 'project'), undefined)
  assert.equal((await bundle.call('GET', base, { token: null })).status, 401)
})

test('an operator and a limited member are told of the areas that their roles let them read', async t => {
  const bundle = await setup(t)
  const register = (name: string, permissions: string[]) =>
    bundle.call('POST', '/api/v1/admin/roles', { body: { name, permissions } })
  await register('desk', ['billing:read', 'dead_letters:read'])
  await register('viewer', ['inventory:read'])
  const shown = async (tenant: string, role: string) => {
    const parts = await overview(bundle, await bundle.tokens.tenant(tenant, { role }))
    return Object.keys(parts).filter(part => parts[part] !== null)
  }
  assert.deepEqual(await shown('platform', 'desk'), ['dead_letters', 'invoices'])
  assert.deepEqual(await shown('acme', 'viewer'), ['mirror'])
  assert.deepEqual(await shown('acme', 'desk'), [], 'an operator’s permission is of no use to a tenant')
})
