// Billing's jobs, through the real queue and against the simulated provider: the balance, the list of invoices, and the
// lines of each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { decimal } from '../../sandbox/world/billing.ts'
import { createContext } from '../../src/context.ts'
import { billingHistory, recordBalance } from '../../src/features/billing/index.ts'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import { type Kind, oneProvider } from '../../src/integrations/digitalocean/index.ts'
import { fixture, setup as scripted, serve } from '../integrations/scripted-provider.ts'
import {
  costLines,
  fixtureText,
  haveInvoice,
  ingest,
  invoiceOf,
  runTask,
  whenFetched,
} from '../support/billing.ts'
import { BAD_FILES, csv, csvObjects, HEADER, row } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'
import { jobPart, sweepOne } from '../support/sweep.ts'

const csvRequests = ({ sandbox }: Bundle) => sandbox.requests.filter(({ url }) => url.endsWith('/csv'))

const CHARGED: Kind[] = [
  'droplet',
  'volume',
  'snapshot',
  'load_balancer',
  'database',
  'kubernetes_cluster',
  'app',
  'registry',
  'reserved_ip',
]

test('the balance and every finished invoice are fetched to the cent, once, and the preview never', async t => {
  const bundle = await setup(t, { worker: true, provider: {} })
  const { call, sandbox } = bundle
  assert.equal((await call('GET', '/api/v1/billing/balance')).body.data, null)
  for (const kind of CHARGED) await sweepOne(bundle, kind)
  assert.equal((await runTask(bundle, 'balance')).status, 'completed')
  const { body } = await call('GET', '/api/v1/billing/balance')
  const usage = decimal(sandbox.world.billing.preview(sandbox.clock.now()).cents)
  assert.match(body.data.month_to_date_usage, /^\d+\.\d\d$/)
  assert.ok(Math.abs(Number(body.data.month_to_date_usage) - Number(usage)) < 1)
  assert.deepEqual(
    { ...body.data, month_to_date_usage: 0, month_to_date_balance: 0, generated_at: 0 },
    {
      provider: 'digitalocean',
      month_to_date_balance: 0,
      account_balance: '0.00',
      month_to_date_usage: 0,
      currency: 'USD',
      generated_at: 0,
      recorded_at: bundle.clock.now().toISOString(),
    },
  )

  assert.equal((await runTask(bundle, 'billing_history')).status, 'completed')
  const invoices = await whenFetched(bundle)
  const billed = sandbox.world.billing.invoices(sandbox.clock.now())
  assert.ok(billed.length >= 2)
  assert.deepEqual(
    invoices.map(({ invoice_uuid, invoice_number, period, amount }) => [
      invoice_uuid,
      invoice_number,
      period,
      amount,
    ]),
    billed.map(({ uuid, number, period, cents }) => [uuid, number, `${period}-01`, decimal(cents)]),
  )
  for (const [index, invoice] of invoices.entries()) {
    const lines = [...billed[index]!.lines]
    const tax = lines.filter(line => line.product === 'Taxes').reduce((sum, line) => sum + line.cents, 0)
    assert.deepEqual(
      [
        invoice.ingest_status,
        invoice.reconciled,
        invoice.line_count,
        invoice.amount_net_minor,
        invoice.amount_tax_minor,
      ],
      ['ingested', true, lines.length, billed[index]!.cents - tax, tax],
    )
    assert.equal(invoice.lines_amount, invoice.amount)
  }

  // Every line of a resource that is still there is its resource's; what is no resource is nobody's.
  const unmatched = await costLines(bundle, `invoice_id=${invoices[0]!.id}&matched=false`)
  assert.deepEqual(
    unmatched.map(line => line.description),
    [
      'acme-prod-web-01 (s-2vcpu-4gb)',
      'acme-prod-web-02 (s-2vcpu-4gb)',
      'acme-old-batch-01 (s-1vcpu-1gb)',
      'Bandwidth overage, "pooled" transfer',
      'Service credit for incident, March',
      'STATE SALES TAX (6.25%)',
    ],
  )
  assert.deepEqual(
    unmatched.slice(0, 2).map(line => line.kind),
    ['backup', 'backup'],
  )

  const before = csvRequests(bundle).length
  assert.equal(before, billed.length)
  assert.equal((await runTask(bundle, 'billing_history')).status, 'completed')
  assert.equal(csvRequests(bundle).length, before)
  const { rows: jobs } = await sql`select 1 from pgboss.job where data ->> 'job' = 'ingest_invoice'`.execute(
    bundle.ctx.db,
  )
  assert.equal(jobs.length, billed.length, 'what is ingested is not asked for again')
  const preview = sandbox.world.billing.preview(sandbox.clock.now()).uuid
  assert.ok(csvRequests(bundle).every(({ url }) => !url.includes('preview') && !url.includes(preview)))
})

test('the provider’s own examples of the list and the file give net, tax and gross as the rule says', async t => {
  const bundle = await setup(t)
  const list = { ...(fixture('invoices.list') as object), links: {}, meta: { total: 2 } }
  const { provider } = await scripted(t, ({ path }) =>
    path.endsWith('/csv')
      ? { headers: { 'content-type': 'text/csv' }, body: fixtureText('invoice.csv') }
      : { body: list },
  )
  const kernel = { ...bundle.ctx, providers: oneProvider(provider) }
  await billingHistory(kernel).run({ ...jobPart(), id: 'run', attempt: 1 })
  const { body } = await bundle.call('GET', '/api/v1/billing/invoices')
  assert.deepEqual(
    body.data.map((invoice: Record<string, unknown>) => [
      invoice.invoice_uuid,
      invoice.period,
      invoice.amount,
    ]),
    [
      ['22737513-0ea7-4206-8ceb-98a575af7681', '2019-12-01', '12.34'],
      ['fdabb512-6faf-443c-ba2e-665452332a9e', '2019-11-01', '23.45'],
    ],
  )
  const [{ id }] = body.data
  assert.equal(await ingestInvoice(kernel, id, jobPart()), 'ingested')
  const invoice = await invoiceOf(bundle, { id })
  assert.deepEqual(
    [
      invoice.amount_net_minor,
      invoice.amount_tax_minor,
      invoice.lines_amount,
      invoice.line_count,
      invoice.reconciled,
    ],
    [311, 16, '3.27', 2, false],
  )
})

test(
  'every bad file leaves the lines as they were, and the invoice says which line is wrong',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t)
    const invoice = await haveInvoice(bundle, { amount: '12.00' })
    assert.equal(
      await ingest(bundle, invoice, csv([row(), row({ description: 'web-02 (s-1vcpu-1gb)' })])),
      'ingested',
    )
    const { db } = bundle.ctx
    const header = () =>
      db.selectFrom('cloud_invoices').selectAll().where('id', '=', invoice.id).executeTakeFirstOrThrow()
    const set = () =>
      db
        .selectFrom('cloud_cost_lines')
        .selectAll()
        .where('invoice_id', '=', invoice.id)
        .orderBy('id')
        .execute()
    const [ingested, good] = [await header(), await set()]
    assert.deepEqual([ingested.reconciled, good.length], [true, 2])

    // What is wrong may also come after a million good lines; here after a few batches.
    const late = csv([...Array.from({ length: 2_500 }, () => row()), row({ USD: 'x' })])
    const files = [
      ...BAD_FILES,
      ['no lines', csv([]), /there are no lines/] as const,
      ['late', late, /line 2502, column USD: "x" is not an amount/] as const,
    ]
    for (const [what, file, says] of files) {
      await assert.rejects(ingest(bundle, invoice, file), says, what)
      const failed = await header()
      assert.equal(failed.ingest_status, 'failed', what)
      assert.match(failed.ingest_error ?? '', says, what)
      assert.deepEqual({ ...failed, ingest_status: 'ingested', ingest_error: null }, ingested, what)
      assert.deepEqual(await set(), good, what)
    }

    // The old file again is no new set; another one is.
    assert.equal(
      await ingest(bundle, invoice, csv([row(), row({ description: 'web-02 (s-1vcpu-1gb)' })])),
      'unchanged',
    )
    assert.deepEqual([await header(), await set()], [ingested, good])
    assert.equal(await ingest(bundle, invoice, csv([row({ USD: '$7.005' })])), 'ingested')
    const [line] = await costLines(bundle, `invoice_id=${invoice.id}`)
    assert.deepEqual([line?.amount, line?.amount_minor], ['7.005', 701])
    assert.equal((await invoiceOf(bundle, invoice)).reconciled, false)
  },
)

test('what lines say has one hash however the file is written, and another when a line changes', async t => {
  const bundle = await setup(t)
  const invoice = await haveInvoice(bundle)
  const hash = async (file: string) => {
    await ingest(bundle, invoice, file)
    return bundle.ctx.db
      .selectFrom('cloud_invoices')
      .select(['lines_hash', 'ingest_count'])
      .executeTakeFirstOrThrow()
  }
  const first = await hash(csv([row()]))
  const permuted = await hash(csv([row()], HEADER.toReversed(), '\r\n'))
  const changed = await hash(csv([row({ USD: '$6.01' })]))
  assert.equal(permuted.lines_hash, first.lines_hash)
  assert.notEqual(changed.lines_hash, first.lines_hash)
  assert.deepEqual(
    [first, permuted, changed].map(({ ingest_count }) => ingest_count),
    [1, 2, 3],
  )
})

test(
  'a file that is refused is not asked for again until the next listing, an answer that fails is, and a changed amount is fetched anew',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const { sandbox, ctx, call } = bundle
    const newest = sandbox.world.billing.invoices(sandbox.clock.now())[0]!
    const path = `/v2/customers/my/invoices/${newest.uuid}/csv`
    sandbox.faults.add({ fault: 'cut_json', keep: 0.02, match: { path } })
    await runTask(bundle, 'billing_history')
    const [failed] = (await whenFetched(bundle)).filter(invoice => invoice.ingest_status === 'failed')
    assert.equal(failed?.invoice_uuid, newest.uuid)
    assert.match(failed?.ingest_error ?? '', /^(line 1: columns are missing|there are no lines)/)
    const dead = await call('GET', '/api/v1/admin/dead_letters')
    assert.deepEqual(dead.body.data, [])

    // Lost for the client's own three attempts: the job is to be tried again by the queue, seconds later.
    sandbox.faults.add({ fault: 'connection_reset', times: 3, match: { path } })
    await runTask(bundle, 'billing_history')
    await eventually('the queue will try again', async () => {
      const { rows } = await sql`
      select 1 from pgboss.job where data ->> 'job' = 'ingest_invoice' and state = 'retry'`.execute(ctx.db)
      return rows.length === 1
    })
    assert.match((await invoiceOf(bundle, failed!)).ingest_error ?? '', /the connection failed/)

    const [other] = (await whenFetched(bundle)).filter(invoice => invoice.id !== failed!.id)
    await ctx.db
      .updateTable('cloud_invoices')
      .set({ amount: '1.00', reconciled: false })
      .where('id', '=', other!.id)
      .execute()
    await runTask(bundle, 'billing_history')
    await eventually('it is fetched and found unchanged', async () => {
      const invoice = await invoiceOf(bundle, other!)
      return invoice.ingest_status === 'ingested' && invoice.reconciled === true
    })
    assert.deepEqual(await invoiceOf(bundle, other!), { ...other, file: null })
  },
)

test(
  'an export names the provider’s account to operators and not to tenants, and invoices are listed also where it is not told',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {} })
    const { call, sandbox, tokens } = bundle
    const path = '/v2/account'
    const accountIn = async (url: string, token?: string) => {
      const { text } = await call('GET', `${url}?period=2026-10-01`, { token })
      const [first] = csvObjects(text)
      return first && [first.BillingAccountId, first.BillingAccountName]
    }
    sandbox.faults.add({ fault: 'server_error', status: 403, id: 'forbidden', match: { path } })
    assert.equal((await runTask(bundle, 'billing_history')).status, 'completed')
    const [line] = await costLines(bundle, `invoice_id=${(await whenFetched(bundle))[0]!.id}&limit=1`)
    assert.match(bundle.logged(), /does not say whose account this is/)
    assert.deepEqual(await accountIn('/api/v1/billing/focus'), ['platform', 'platform'])

    assert.equal((await runTask(bundle, 'billing_history')).status, 'completed')
    const { team } = sandbox.world.account
    assert.deepEqual(await accountIn('/api/v1/billing/focus'), [team!.uuid, team!.name])
    await call('POST', `/api/v1/billing/cost-lines/${line!.id}/assign`, { body: { tenant_id: 'acme' } })
    assert.deepEqual(await accountIn('/api/v1/costs/focus', await tokens.tenant('acme')), [
      'platform',
      'platform',
    ])
  },
)

test(
  'a rate limit that asks for patience postpones an ingest instead of failing it',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: true, provider: {}, providerLimits: { maxWaitMs: 10 } })
    const { sandbox } = bundle
    sandbox.faults.add({
      fault: 'too_many_requests',
      seconds: 60,
      match: { path: '/v2/customers/my/invoices/*/csv' },
    })
    await runTask(bundle, 'billing_history')
    await eventually('the ingest waits in the queue', async () => {
      const { rows } = await sql`
      select 1 from pgboss.job where data -> 'payload' ->> 'postponed' = '1' and start_after > created_on`.execute(
        bundle.ctx.db,
      )
      // The limit is the token's: another invoice's ingest may meet it too.
      return rows.length >= 1
    })
    assert.match(bundle.logged(), /ingest postponed/)
    const { body } = await bundle.call('GET', '/api/v1/billing/invoices?ingest_status=failed')
    assert.deepEqual(body.data, [])
  },
)

test('the provider is asked with the one token that the configuration names', async t => {
  const { ctx } = await setup(t)
  const asked: unknown[] = []
  const DIGITALOCEAN_API_URL = await serve(t, ({ path, headers }) => {
    asked.push([path, headers.authorization])
    return { body: fixture('balance.get') }
  })
  const { engine, clock, log } = ctx
  const config = { ...ctx.config, DIGITALOCEAN_API_URL, DIGITALOCEAN_TOKEN: 'from-the-environment' }
  const other = await createContext({ config, worker: false, engine, clock, log })
  t.after(() => other.jobs.stop(1_000))
  t.after(() => other.providers.close())
  await recordBalance(other).run({ ...jobPart(), id: 'run', attempt: 1 })
  assert.deepEqual(asked, [['/v2/customers/my/balance', 'Bearer from-the-environment']])
})

test('without a provider both tasks fail and say why', async t => {
  const { ctx } = await setup(t)
  for (const task of [recordBalance(ctx), billingHistory(ctx)])
    await assert.rejects(task.run({ ...jobPart(), id: 'run', attempt: 1 }), /DIGITALOCEAN_TOKEN is not set/)
})
