// The checks of billing and operations, each with what it must find and what is nearly that; and the SQL that all checks share.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { heldSince, madeAt, notBeingMade } from '../../src/features/findings/check.ts'
import { newId } from '../../src/kernel/ids.ts'
import { haveInvoice, ingest } from '../support/billing.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { findingsOf, foundBy, giveTo, haveSizePrice, whenFound } from '../support/findings.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { rowOf, see, sweepAll, sweepOne } from '../support/sweep.ts'
import { allowPrivate, receiver, webhook } from '../support/webhook-receiver.ts'

const HEADER = 'product,group_description,description,hours,start,end,USD,project_name,category'
const SPAN = '2026-10-01 00:00:00 +0000,2026-11-01 00:00:00 +0000'
const csv = (...lines: string[]) => [HEADER, ...lines].join('\n')
const droplet = (name: string, amount: string, hours = 744, more = '') =>
  `Droplets,,${name} (s-1vcpu-1gb)${more},${hours},${SPAN},${amount},acme,iaas`

test(
  'a line of the last invoice that names a resource which was not there is found, and stays one when it is ingested again',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const old = await haveInvoice(bundle, { period: '2026-09-01', amount: '6.00' })
    await ingest(bundle, old, csv(droplet('of-september', '6.00')))
    const names = ['there', 'twins', 'twins', 'gone-then', 'gone-before']
    await see(
      bundle,
      'droplet',
      names.map((name, n) => ({ provider_id: `d-${n}`, name })),
    )
    await sql`update cloud_resources set first_seen_at = '2026-01-05T08:15:00Z'`.execute(bundle.ctx.db)
    await sql`update cloud_resources set deleted_at = '2026-10-20T00:00:00Z' where name = 'gone-then'`.execute(
      bundle.ctx.db,
    )
    await sql`update cloud_resources set last_seen_at = '2026-09-10T00:00:00Z', deleted_at = '2026-09-11T00:00:00Z'
    where name = 'gone-before'`.execute(bundle.ctx.db)
    const lines = [
      droplet('there', '6.00'),
      droplet('twins', '6.00'),
      droplet('gone-then', '4.00'),
      droplet('gone-before', '6.00'),
      droplet('nobody-knows', '3.00', 336),
      `Backups,,nobody-knows (s-1vcpu-1gb),744,${SPAN},1.20,acme,iaas`,
      droplet('refunded', '-3.00'),
      `Droplets,,without a name,744,${SPAN},5.00,acme,iaas`,
      droplet('taxi-api', '6.00'),
      `Taxes,,STATE SALES TAX,,${SPAN},0.75,,`,
    ]
    const invoice = await haveInvoice(bundle, { period: '2026-10-01', amount: '34.95' })
    await ingest(bundle, invoice, csv(...lines))
    const name = 'invoice_line_without_resource'
    const found = async () => {
      await foundBy(bundle, name)
      return findingsOf(bundle, `&check=${name}`)
    }
    const first = await found()
    assert.deepEqual(
      first
        .map(({ evidence, monthly_cost, cost_source }) => [evidence.name, monthly_cost, cost_source])
        .sort(),
      [
        ['gone-before', '6.00', 'invoice'],
        ['nobody-knows', '6.00', 'invoice'],
      ],
    )
    const { evidence } = first.find(finding => finding.evidence.name === 'nobody-knows')!
    assert.deepEqual(evidence, {
      ...{ invoice_id: invoice.id, period: '2026-10', line_number: 6, product: 'Droplets', kind: 'droplet' },
      ...{ name: 'nobody-knows', description: 'nobody-knows (s-1vcpu-1gb)', amount: '3.00', hours: '336' },
      ended_at: '2026-11-01T00:00:00.000Z',
    })

    // Another file of the same month: the lines stand elsewhere, and one is there twice.
    await ingest(bundle, invoice, csv(droplet('nobody-knows', '3.00', 336), ...lines.toReversed()))
    const ids = (findings: typeof first) => findings.map(({ id }) => id)
    const again = await found()
    assert.equal(again.length, 3)
    assert.deepEqual(
      ids(first).filter(id => !ids(again).includes(id)),
      [],
      'none was closed',
    )

    // The next month charges for it once more, and for nothing else.
    const next = await haveInvoice(bundle, { period: '2026-11-01', amount: '6.00' })
    await ingest(
      bundle,
      next,
      csv(
        droplet('nobody-knows', '6.00')
          .replaceAll('2026-11-01', '2026-12-01')
          .replaceAll('2026-10-01', '2026-11-01'),
      ),
    )
    const last = await found()
    assert.deepEqual(
      last.map(({ evidence }) => [evidence.name, evidence.period]),
      [['nobody-knows', '2026-11']],
    )
    assert.ok(ids(first).includes(last[0]!.id))

    const { body } = await bundle.call('GET', `/api/v1/billing/cost-lines?invoice_id=${next.id}`)
    await bundle.call('POST', `/api/v1/billing/cost-lines/${body.data[0].id}/assign`, {
      body: { tenant_id: 'acme' },
    })
    assert.deepEqual(await found(), [], 'somebody has said whose it is')
  },
)

test(
  'a kind whose sweeps have failed for hours is found until one is whole, or the account does not have it',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {} })
    const { sandbox, clock } = bundle
    const answer = (status: number) => {
      sandbox.faults.clear()
      sandbox.faults.add({
        fault: 'server_error',
        status,
        times: 'always',
        match: { path: '/v2/registries' },
      })
    }
    await sweepOne(bundle, 'volume')
    await sweepOne(bundle, 'registry')
    answer(500)
    const { started_at } = await sweepOne(bundle, 'registry')
    for (const _ of [1, 2]) await sweepOne(bundle, 'registry')
    assert.deepEqual(await foundBy(bundle, 'sweep_failing'), [])
    const { id, error } = await sweepOne(bundle, 'registry')
    assert.deepEqual(await foundBy(bundle, 'sweep_failing'), [['registry', '0.00']])
    const [{ since, evidence, resource, cost_source } = assert.fail()] = await findingsOf(bundle)
    const { last_whole_sweep_at, ...said } = evidence
    assert.deepEqual([since, resource, cost_source], [started_at, null, null])
    assert.deepEqual(said, { kind: 'registry', status: 'failed', error, sync_run_id: id })
    assert.ok(last_whole_sweep_at)
    sandbox.faults.clear()
    await sweepOne(bundle, 'registry')
    assert.deepEqual(await foundBy(bundle, 'sweep_failing'), [])

    answer(403)
    await sweepOne(bundle, 'registry')
    clock.advance(22 * 3_600_000)
    assert.equal((await sweepOne(bundle, 'registry')).status, 'failed')
    assert.deepEqual(await foundBy(bundle, 'sweep_failing'), [['registry', '0.00']])
    assert.equal((await sweepOne(bundle, 'registry')).status, 'unavailable')
    assert.deepEqual(await foundBy(bundle, 'sweep_failing'), [])
  },
)

test(
  'a whole sweep has the checks run: what a saga left is found with its price, and webhooks are told',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { provider: {}, worker: true, findings: true, env: allowPrivate })
    const { call, ctx } = bundle
    const listener = await receiver(t)
    await webhook(bundle, { url: listener.url, events: ['finding.opened'] })
    await haveSizePrice(bundle, 's-1vcpu-1gb', '6')
    const made = await fetch(`${ctx.config.DIGITALOCEAN_API_URL}/__sandbox/resources/droplet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'left-behind', size: 's-1vcpu-1gb', tags: [`saga:${newId()}`] }),
    })
    assert.ok(made.ok)
    await sweepAll(bundle)
    const run = await whenFound(bundle)
    assert.deepEqual([run.trigger, run.result.failed], ['schedule', 0])
    const [leak, ...more] = await findingsOf(bundle, '&check=saga_leak')
    assert.deepEqual(
      [leak?.resource?.name, leak?.monthly_cost, leak?.evidence.reason, more],
      [...['left-behind', '6.00', 'run_unknown', []]],
    )
    const [message] = await eventually('the webhook is told', async () => {
      const told = listener.received.filter(({ body }) => body.data.finding.check === 'saga_leak')
      return told.length > 0 && told
    })
    assert.equal(message!.body.type, 'finding.opened')
    assert.deepEqual(message!.body.data.finding, leak)
    const spec = { body: { spec: { name: 'left-behind' } } }
    await call('PUT', `/api/v1/inventory/${leak!.resource!.id}/desired-state`, spec)
    assert.deepEqual(await foundBy(bundle, 'saga_leak'), [])
  },
)

/** An expression of a resource `r`, by the resource's name. */
async function ofResources({ ctx }: Bundle, expression: string): Promise<Record<string, unknown>> {
  const { rows } = await sql<{ name: string; value: unknown }>`
    select r.name, ${sql.raw(expression)} as value from cloud_resources r order by r.name`.execute(ctx.db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

test('how long something is so reaches back to when the provider made it, but not into another tenant’s time', async t => {
  const bundle = await setup(t)
  const { clock } = bundle
  const status = (name: string, value: string, created_at?: string) => ({
    ...{ provider_id: name, name, status: value, attrs: created_at === undefined ? {} : { created_at } },
  })
  const made = '2026-03-01T10:20:30Z'
  await see(bundle, 'droplet', [
    ...[status('always', 'off', made), status('lately', 'active', made), status('unknown', 'off')],
    ...[
      status('odd', 'off', '2026-02-31T00:00:00Z'),
      status('broken', 'off', 'yesterday'),
      status('ahead', 'off', '2999-01-01T00:00:00Z'),
    ],
    ...[status('traded', 'off', made), status('named', 'off', made)],
  ])
  const first = clock.now().toISOString()
  await giveTo(bundle, 'acme', [
    ['droplet', 'traded'],
    ['droplet', 'named'],
  ])
  clock.advance(3_600_000)
  await see(bundle, 'droplet', [
    { ...status('lately', 'off', made) },
    { ...status('named', 'off', made), tags: ['a'] },
  ])
  const later = clock.now().toISOString()
  clock.advance(3_600_000)
  await giveTo(bundle, 'acme', [['droplet', 'named']])
  await giveTo(bundle, 'globex', [['droplet', 'traded']])
  const traded = clock.now().toISOString()
  assert.deepEqual(await ofResources(bundle, heldSince(`v.status = 'off'`)), {
    ...{ always: '2026-03-01T10:20:30.000Z', lately: later, unknown: first },
    // The provider's calendar goes on after a month's end.
    ...{ odd: '2026-03-03T00:00:00.000Z', broken: first, ahead: first },
    ...{ named: '2026-03-01T10:20:30.000Z', traded },
  })
  assert.equal((await ofResources(bundle, madeAt())).broken, null)
})

test('what a run under way is making is told from what it has made', async t => {
  const bundle = await setup(t)
  const { ctx } = bundle
  const run = async (status: string, context: object = {}) => {
    const id = newId()
    const at = ctx.clock.now().toISOString()
    await sql`insert into saga_runs (id, kind, status, step_modules, inputs, context, business_key, actor, job_id, heartbeat_at, created_at, finished_at)
      values (${id}, 'provision_deployment', ${status}, '{}', '{}', ${JSON.stringify(context)}::jsonb, ${id}, 'ada', ${newId()}, ${at}, ${at},
        ${status === 'completed' ? at : null})`.execute(ctx.db)
    return id
  }
  const tagged = (name: string, id: string) => ({ provider_id: name, name, tags: [`saga:${id}`] })
  await run('running', { droplet_id: 'on-record' })
  await run('completed', { droplet_id: 'recorded' })
  await see(bundle, 'droplet', [
    ...[tagged('running', await run('running')), tagged('turning-back', await run('compensating'))],
    ...[
      tagged('pending', await run('pending')),
      tagged('made', await run('completed')),
      tagged('nobody', 'x'),
    ],
    ...[
      { provider_id: 'on-record', name: 'on-record' },
      { provider_id: 'recorded', name: 'recorded' },
    ],
  ])
  await see(bundle, 'volume', [{ provider_id: 'on-record', name: 'volume of that id' }])
  const is = await ofResources(bundle, notBeingMade())
  const making = Object.keys(is).filter(name => !is[name])
  assert.deepEqual(making.sort(), ['on-record', 'pending', 'running', 'turning-back'])
  assert.equal((await rowOf(bundle, 'volume', 'on-record')).name, 'volume of that id')
})
