// Findings over HTTP: opened, followed, snoozed and closed by themselves, with what they cost; and who sees which.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Check } from '../../src/features/findings/check.ts'
import { CHECKS } from '../../src/features/findings/checks/index.ts'
import { resourceMissing } from '../../src/features/findings/checks/resource-missing.ts'
import { sagaLeak } from '../../src/features/findings/checks/saga-leak.ts'
import { findAll } from '../../src/features/findings/find.ts'
import { forgetClosedFindings } from '../../src/features/findings/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { haveIngested } from '../support/billing.ts'
import { type Finding, find, findingsOf, giveTo } from '../support/findings.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart, rowOf, see } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

const HOUR = 3_600_000
const base = '/api/v1/findings'

/** Two checks are enough here: what the others find in these worlds is their own tests' affair. */
const run = (bundle: Bundle) => find(bundle, 'resource_missing', 'saga_leak')

/** So many whole sweeps have not seen this resource. */
async function miss({ ctx, clock }: Bundle, providerId: string, strikes = 1): Promise<void> {
  await sql`update cloud_resources set stale_strike_count = ${strikes},
      missing_since = ${strikes > 0 ? clock.now().toISOString() : null}
    where provider_id = ${providerId}`.execute(ctx.db)
}

const told = async ({ ctx }: Bundle) =>
  (await ctx.db
    .selectFrom('webhook_events')
    .select(['type', 'tenant_id', 'data'])
    .orderBy('id')
    .execute()) as {
    type: string
    tenant_id: string | null
    data: { finding: Finding }
  }[]

test('what a check finds is opened once with its price, followed while it lasts, and closed by itself', async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { ctx, clock, call } = bundle
  await webhook(bundle, { url: 'http://127.0.0.1:9/hook', events: ['finding.*'] })
  const volume = { provider_id: 'v-1', name: 'data', attrs: { size_gigabytes: 100 } }
  await see(bundle, 'volume', [volume, { provider_id: 'v-2', name: 'kept' }])
  assert.deepEqual(await run(bundle), { checks: 2, open: 0, opened: 0, changed: 0, closed: 0 })

  await miss(bundle, 'v-1')
  const since = clock.now().toISOString()
  const { id: resource_id } = await rowOf(bundle, 'volume', 'v-1')
  const { last_seen_at } = await rowOf(bundle, 'volume', 'v-1')
  clock.advance(HOUR)
  assert.equal((await run(bundle)).opened, 1)
  const opened_at = clock.now().toISOString()
  const [opened, ...more] = await findingsOf(bundle)
  assert.deepEqual(more, [])
  const { id } = opened!
  const { title, category, severity } = resourceMissing
  assert.deepEqual(opened, {
    ...{ id, check: 'resource_missing', title, category, severity, status: 'open' },
    resource: { id: resource_id, kind: 'volume', provider_id: 'v-1', name: 'data', region: 'nyc3' },
    ...{ subject: resource_id, tenant_id: null, deployment_id: null, since, opened_at },
    ...{ last_found_at: opened_at, closed_at: null },
    ...{ monthly_cost: '10.00', monthly_cost_minor: 1000, currency: 'USD', cost_source: 'list_price' },
    evidence: { sweeps_missed: 1, last_seen_at },
    ...{ snoozed_until: null, snooze_reason: null, snoozed_by: null },
  })
  assert.deepEqual((await call('GET', `${base}/${id}`)).body.data, opened)

  clock.advance(HOUR)
  assert.deepEqual(await run(bundle), { checks: 2, open: 1, opened: 0, changed: 0, closed: 0 })
  const [same] = await findingsOf(bundle)
  assert.deepEqual(same, { ...opened, last_found_at: clock.now().toISOString() }, 'nothing else has changed')

  await miss(bundle, 'v-1', 2)
  const line = { kind: 'volume', product: 'Volumes', resource_id }
  // Half of the provider's month; it was 50 GiB before, which that line says no more.
  const first = { amount: '2.00', hours: '336', end_at: '2026-10-14T00:00:00Z' }
  await haveIngested(bundle, [
    { ...line, ...first },
    { ...line, amount: '4.20', hours: '336', end_at: '2026-10-28T00:00:00Z' },
    { ...line, amount: '0.80', description: 'GST', end_at: '2026-10-28T00:00:00Z' },
  ])
  assert.equal((await run(bundle)).changed, 1)
  const [priced] = await findingsOf(bundle)
  assert.deepEqual(
    [priced!.id, priced!.monthly_cost, priced!.monthly_cost_minor, priced!.cost_source, priced!.evidence],
    [id, '8.40', 840, 'invoice', { sweeps_missed: 2, last_seen_at }],
  )

  await miss(bundle, 'v-1', 0)
  clock.advance(HOUR)
  assert.equal((await run(bundle)).closed, 1)
  assert.deepEqual(await findingsOf(bundle), [])
  const closed = { ...priced, status: 'closed', closed_at: clock.now().toISOString() }
  assert.deepEqual(await findingsOf(bundle, '&status=closed'), [closed])

  await miss(bundle, 'v-1')
  assert.equal((await run(bundle)).opened, 1)
  const [again] = await findingsOf(bundle)
  assert.notEqual(again!.id, id)
  assert.deepEqual(
    (await told(bundle)).map(({ type, data }) => [type, data.finding.id, data.finding.status]),
    [
      ['finding.opened', id, 'open'],
      ['finding.closed', id, 'closed'],
      ['finding.opened', again!.id, 'open'],
    ],
  )

  clock.advance(90 * 24 * HOUR)
  assert.equal(await forgetClosedFindings(ctx).run(), 0)
  clock.advance(1)
  assert.equal(await forgetClosedFindings(ctx).run(), 1)
  assert.equal((await call('GET', `${base}/${id}`)).status, 404)
  assert.equal((await findingsOf(bundle)).length, 1, 'what is open stays')
})

test('a snoozed finding is not open until its time is over, keeps its reason, and is closed like any other', async t => {
  const bundle = await setup(t)
  const { call, clock, tokens } = bundle
  await see(bundle, 'volume', [{ provider_id: 'v-1', attrs: { size_gigabytes: 10 } }])
  await miss(bundle, 'v-1')
  await run(bundle)
  const { id } = (await findingsOf(bundle))[0]!
  const path = `${base}/${id}/snooze`
  const inHours = (hours: number) => new Date(clock.now().getTime() + hours * HOUR).toISOString()
  const until = inHours(24)
  const body = { reason: 'Moved by hand on Monday.', until }
  for (const [wrong, pointer] of [
    [{ ...body, until: inHours(0) }, '/until'],
    [{ ...body, until: inHours(24 * 366 + 1) }, '/until'],
    [{ ...body, reason: ' ' }, '/reason'],
  ] as const) {
    const { status, body: problem } = await call('POST', path, { body: wrong })
    assert.deepEqual([status, problem.errors[0].pointer], [422, pointer])
  }
  const refused = await call('POST', path, { body, token: await tokens.tenant('acme') })
  assert.equal(refused.status, 403)
  assert.equal((await call('POST', `${base}/${newId()}/snooze`, { body })).status, 404)

  const snoozed = await call('POST', path, { body })
  assert.equal(snoozed.status, 200, snoozed.text)
  const { status, snoozed_until, snooze_reason, snoozed_by } = snoozed.body.data
  assert.deepEqual([status, snoozed_until, snooze_reason], ['snoozed', until, body.reason])
  assert.ok(snoozed_by)
  const ids = async (query = '') => (await findingsOf(bundle, query)).map(finding => finding.id)
  const sums = async () => (await call('GET', `${base}/summary`)).body.data.totals
  assert.deepEqual([await ids(), await ids('&status=snoozed')], [[], [id]])
  const none = { open: 0, snoozed: 1, monthly_cost_minor: 0, currency: 'USD' }
  assert.deepEqual(await sums(), none)
  await miss(bundle, 'v-1', 2)
  assert.equal((await run(bundle)).changed, 1, 'it is followed all the same')

  clock.set(until)
  assert.deepEqual([await ids(), await ids('&status=snoozed')], [[id], []])
  assert.equal((await call('GET', `${base}/${id}`)).body.data.status, 'open')
  assert.deepEqual(await sums(), { ...none, open: 1, snoozed: 0, monthly_cost_minor: 100 })

  await call('POST', path, { body: { ...body, until: inHours(1) } })
  assert.equal((await call('DELETE', path)).status, 204)
  assert.deepEqual(await ids(), [id])
  await call('POST', path, { body: { ...body, until: inHours(1) } })
  await miss(bundle, 'v-1', 0)
  await run(bundle)
  assert.deepEqual([await ids('&status=snoozed'), await ids('&status=closed')], [[], [id]])
  for (const method of ['POST', 'DELETE']) {
    const { body: problem } = await call(
      method,
      path,
      method === 'POST' ? { body: { ...body, until: inHours(1) } } : {},
    )
    assert.equal(problem.code, 'finding_closed')
  }
  await miss(bundle, 'v-1')
  await run(bundle)
  assert.equal((await findingsOf(bundle))[0]!.snoozed_until, null, 'what is found anew is not snoozed')
  const { body: log } = await call('GET', `/api/v1/admin/audit_log?subject_type=findings`)
  assert.deepEqual(
    log.data.map((entry: { after: { snooze_reason: string | null } }) => entry.after.snooze_reason).reverse(),
    [body.reason, undefined, null, body.reason],
    'an entry has what has changed',
  )
})

test('two tenants that trade a project back and forth see their own findings alone, and nothing of the other’s time', async t => {
  const bundle = await setup(t, { env: allowPrivate })
  const { call, clock, tokens } = bundle
  await webhook(bundle, { url: 'http://127.0.0.1:9/hook', events: ['finding.*'] })
  const tenants = { acme: await tokens.tenant('acme'), globex: await tokens.tenant('globex') }
  const seen = async (who: keyof typeof tenants, query = '') =>
    (await findingsOf(bundle, query, tenants[who])).map(finding => finding.id)
  const leaked = { provider_id: 'd-1', tags: [`saga:${newId()}`] }
  await see(bundle, 'droplet', [leaked])
  await see(bundle, 'volume', [{ provider_id: 'v-1', name: 'data', attrs: { size_gigabytes: 100 } }])
  const both: ['volume' | 'droplet', string][] = [
    ['volume', 'v-1'],
    ['droplet', 'd-1'],
  ]
  await giveTo(bundle, 'acme', both)
  await miss(bundle, 'v-1')
  await run(bundle)
  const all = await findingsOf(bundle)
  assert.deepEqual(all.map(({ check, tenant_id }) => [check, tenant_id]).sort(), [
    ['resource_missing', 'acme'],
    ['saga_leak', 'acme'],
  ])
  const of = (check: string) => all.find(finding => finding.check === check)!.id
  const first = of('resource_missing')
  assert.deepEqual([await seen('acme'), await seen('globex')], [[first], []])
  const get = async (id: string, token: string) => (await call('GET', `${base}/${id}`, { token })).status
  assert.deepEqual([await get(first, tenants.acme), await get(first, tenants.globex)], [200, 404])
  assert.equal(await get(of('saga_leak'), tenants.acme), 404, 'a check that is not for tenants')
  const foreign = await call('GET', `${base}?tenant_id=acme`, { token: tenants.globex })
  assert.equal(foreign.status, 403)
  const summary = (token: string) => call('GET', `${base}/summary`, { token })
  const { body: sums } = await summary(tenants.acme)
  assert.deepEqual(sums.data.totals, { open: 1, snoozed: 0, monthly_cost_minor: 1000, currency: 'USD' })
  assert.deepEqual(
    sums.data.checks.map(({ check }: { check: string }) => check),
    (await call('GET', `${base}/checks`, { token: tenants.acme })).body.data.map(
      ({ name, for_tenants }: { name: string; for_tenants: boolean }) => for_tenants && name,
    ),
  )
  assert.equal((await summary(tenants.globex)).body.data.totals.open, 0)

  clock.advance(60_000)
  await giveTo(bundle, 'acme', [])
  await giveTo(bundle, 'globex', both)
  assert.deepEqual([await seen('acme'), await seen('globex')], [[], []], 'before the next run')
  assert.equal((await summary(tenants.acme)).body.data.totals.open, 0)
  await run(bundle)
  const [second] = await seen('globex')
  assert.notEqual(second, first)
  assert.deepEqual([await seen('acme'), await seen('acme', '&status=closed')], [[], []])
  assert.deepEqual([await get(first, tenants.acme), await get(first, tenants.globex)], [404, 404])

  clock.advance(60_000)
  await giveTo(bundle, 'globex', [])
  await giveTo(bundle, 'acme', both)
  await run(bundle)
  assert.equal((await seen('acme')).length, 1)
  assert.deepEqual(await seen('acme', '&status=closed'), [first], 'its own, now that the resource is back')
  assert.deepEqual([await seen('globex'), await seen('globex', '&status=closed')], [[], []])
  const events = (await told(bundle)).filter(({ data }) => data.finding.check === 'resource_missing')
  const words = events.map(({ type, tenant_id, data: { finding } }) =>
    [type, tenant_id, finding.tenant_id, finding.resource?.name].join(' '),
  )
  assert.deepEqual(
    words.sort(),
    [
      ...['finding.closed  acme ', 'finding.closed  globex '],
      ...[
        'finding.opened acme acme data',
        'finding.opened acme acme data',
        'finding.opened globex globex data',
      ],
    ],
    'whoever has lost it is told nothing more of it',
  )
})

test('a resource that two checks name counts once in the total, and lists are narrowed and paged', async t => {
  const bundle = await setup(t)
  const { call, ctx } = bundle
  await see(bundle, 'droplet', [{ provider_id: 'd-1', tags: ['saga:unknown'] }])
  const sizes = [300, 200, 100].map(size_gigabytes => ({
    provider_id: `v-${size_gigabytes}`,
    attrs: { size_gigabytes },
  }))
  await see(bundle, 'volume', sizes)
  for (const id of ['d-1', 'v-300', 'v-200']) await miss(bundle, id)
  // By a look between the sweeps, which does not strike.
  await sql`update cloud_resources set missing_since = last_seen_at where provider_id = 'v-100'`.execute(
    ctx.db,
  )
  const { id: droplet } = await rowOf(bundle, 'droplet', 'd-1')
  await haveIngested(bundle, [{ amount: '7.00', hours: '672', resource_id: droplet }])
  await run(bundle)
  const { totals, checks } = (await call('GET', `${base}/summary`)).body.data
  assert.deepEqual(totals, { open: 5, snoozed: 0, monthly_cost_minor: 6700, currency: 'USD' })
  const counted = checks.map((row: { check: string; open: number; monthly_cost_minor: number }) => [
    ...[row.check, row.open, row.monthly_cost_minor],
  ])
  assert.deepEqual(
    counted.filter(([, open]: number[]) => open! > 0),
    [
      ['resource_missing', 4, 6700],
      ['saga_leak', 1, 700],
    ],
  )
  assert.equal(counted.length, CHECKS.length, 'those that found nothing too')
  const costs = async (query: string) => (await findingsOf(bundle, query)).map(row => row.monthly_cost_minor)
  assert.deepEqual(await costs(''), [3000, 2000, 1000, 700, 700])
  assert.deepEqual(await costs('&kind=volume'), [3000, 2000, 1000])
  assert.deepEqual(await costs('&severity=high'), [700])
  assert.deepEqual(await costs('&category=billing'), [])
  assert.deepEqual(await costs(`&resource_id=${droplet}&check=saga_leak`), [700])
  assert.deepEqual(await costs('&check=no_such_check'), [])
  assert.deepEqual(await costs('&tenant_id=acme'), [])
  const pages: number[] = []
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `${base}?limit=2${cursor}`)
    pages.push(...body.data.map((row: Finding) => row.monthly_cost_minor))
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  assert.deepEqual(pages, [3000, 2000, 1000, 700, 700])

  const broken: Check = { ...resourceMissing, query: `select 1 / 0 from cloud_resources r` }
  await miss(bundle, 'v-300', 0)
  await see(bundle, 'droplet', [{ provider_id: 'd-1', tags: [] }])
  const found = await findAll(ctx, jobPart(), [broken, sagaLeak])
  assert.deepEqual([found.checks, found.failed, found.closed], [2, 1, 1], 'the other has run')
  assert.deepEqual(await costs('&check=resource_missing'), [3000, 2000, 1000, 700], 'what it had found stays')
  const errors = async (token?: string) =>
    (await call('GET', `${base}/checks`, { token })).body.data.flatMap(
      ({ name, error }: { name: string; error: string | null }) => (error === null ? [] : [name]),
    )
  assert.deepEqual(await errors(), ['resource_missing'])
  assert.deepEqual(
    await errors(await bundle.tokens.tenant('acme')),
    [],
    'what the database said is the operators’',
  )
  await run(bundle)
  assert.deepEqual([await errors(), await costs('&check=resource_missing')], [[], [2000, 1000]])
})
