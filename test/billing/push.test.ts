// Invoices reach finance once, whatever happens to the answers.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { jwtVerify } from 'jose'
import { sql } from 'kysely'
import { financeFaultNames } from '../../sandbox/finance/server.ts'
import { createContext } from '../../src/context.ts'
import { pushInvoice, requestMissingPushes, requestPush } from '../../src/features/billing/push-invoice.ts'
import { FinanceError } from '../../src/integrations/finance/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { startWorker } from '../../src/worker.ts'
import { giveLines, haveIngested, invoiceRow, type Line, someLines } from '../support/billing.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { lasting } from '../support/lasting.ts'
import { type Bundle, financeClient, setup, silentLog } from '../support/setup.ts'
import { SECRET } from '../support/tokens.ts'

const run = { log: silentLog }

const pushJobs = async ({ ctx }: Bundle) => {
  const { rows } = await sql<{ state: string; retry_count: number }>`
    select state, retry_count from pgboss.job where data->>'job' = 'push_invoice' order by id`.execute(ctx.db)
  return rows
}

/** Makes a retry follow at once, as the last one that the queue would make: a test need not wait for the backoff. */
const hurry = ({ ctx }: Bundle) =>
  sql`update pgboss.job set start_after = now() - interval '1 hour', retry_count = retry_limit - 1
    where state = 'retry'`.execute(ctx.db)

test('an invoice is pushed by a job: split by the tax rule, gross the sum of all lines, and never again', async t => {
  const bundle = await setup(t, { finance: {}, worker: true })
  const { ctx, finance, clock } = bundle
  const id = await haveIngested(bundle, [
    ...someLines,
    { description: 'taxi-api (s-1vcpu-1gb)', amount: '5.005', amount_minor: 501 },
    { product: 'Credits', kind: 'credit', description: 'Service credit', amount: '-2.00' },
  ])
  await transaction(ctx.db, tx => requestPush(tx, ctx, id))
  const row = await eventually('it is pushed', async () => {
    const now = await invoiceRow(bundle, id)
    return now.pushed_to_finance_at !== null && now
  })
  const [kept] = [...finance.invoices.values()]
  assert.deepEqual(
    { ...kept, id: 0, created_at: 0, updated_at: 0, lines: kept!.lines.length },
    {
      tenant_id: 'platform',
      source: 'digitalocean',
      external_id: row.invoice_uuid,
      period_start: '2026-10-01',
      period_end: '2026-10-31',
      currency: 'USD',
      amount_net_minor: 1000,
      amount_tax_minor: 576,
      amount_gross_minor: 1576,
      id: 0,
      pushes: 1,
      created_at: 0,
      updated_at: 0,
      lines: 5,
    },
  )
  assert.deepEqual(kept!.lines[3], {
    product: 'Droplets',
    group_description: null,
    description: 'taxi-api (s-1vcpu-1gb)',
    kind: 'droplet',
    project_name: null,
    category: 'iaas',
    hours: null,
    start_at: null,
    end_at: null,
    amount: '5.005',
    amount_minor: 501,
    is_tax: true,
  })
  assert.equal(row.pushed_to_finance_at, clock.now().toISOString())
  assert.equal(row.finance_invoice_id, kept!.id)
  assert.equal(row.finance_action, 'created')
  assert.equal(row.pushed_lines_hash, row.lines_hash)

  assert.equal(await requestMissingPushes(ctx), 0)
  assert.equal(await pushInvoice(ctx, id, run), 'nothing_to_push')
  assert.equal(finance.pushes.length, 1)
})

test(
  'each fault of finance is told apart, kept with the invoice, and mended by the next push without a second row',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { finance: { silenceMs: 3_000 } })
    const { ctx, finance } = bundle
    const expected: Record<(typeof financeFaultNames)[number], [fault: string, RegExp, action: string]> = {
      drop_after_commit: ['unavailable', /did not answer/, 'updated'],
      error_after_commit: ['unavailable', /answered 500: server_error: something went wrong/, 'updated'],
      malformed_answer: ['malformed', /answered 200 that is not a JSON object/, 'updated'],
      unauthorized: ['unauthorized', /answered 401: unauthorized/, 'created'],
      conflict: ['conflict', /answered 409: conflict/, 'created'],
      server_error: ['unavailable', /answered 500/, 'created'],
      stall: ['unavailable', /did not answer \(UND_ERR_HEADERS_TIMEOUT\)/, 'created'],
    }
    const ids = new Set<string>()
    for (const name of financeFaultNames) {
      const [fault, message, action] = expected[name]
      const id = await haveIngested(bundle)
      finance.faults.add({ fault: name })
      const error = await pushInvoice(ctx, id, run).then(assert.fail, (refusal: unknown) => refusal)
      assert.ok(error instanceof FinanceError, name)
      assert.equal(error.fault, fault, name)
      assert.match(error.message, message, name)
      const failed = await invoiceRow(bundle, id)
      assert.equal(failed.finance_error, error.message)
      assert.equal(failed.pushed_to_finance_at, null)

      assert.equal(await pushInvoice(ctx, id, run), 'pushed')
      const row = await invoiceRow(bundle, id)
      assert.deepEqual([row.finance_action, row.finance_error], [action, null], name)
      ids.add(row.finance_invoice_id!)
    }
    assert.equal(finance.invoices.size, financeFaultNames.length)
    assert.deepEqual(ids, new Set([...finance.invoices.values()].map(invoice => invoice.id)))
    assert.doesNotMatch(bundle.logged(), /eyJ|test-issuer-secret/)
  },
)

test(
  'a push that fails is tried again by the queue; an outage past all attempts leaves no dead letter and is made up for',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { finance: {}, worker: true })
    const { ctx, call, finance } = bundle
    const id = await haveIngested(bundle)
    finance.faults.add({ fault: 'drop_after_commit' })
    finance.faults.add({ fault: 'server_error', status: 503, times: 'always' })
    await requestPush(ctx.db, ctx, id)
    await eventually('the last attempt was made', async () => {
      await hurry(bundle)
      return (await pushJobs(bundle))[0]?.state === 'completed'
    })
    assert.equal(finance.pushes.length, 2)
    assert.deepEqual((await call('GET', '/api/v1/admin/dead_letters')).body.data, [])
    assert.match((await invoiceRow(bundle, id)).finance_error!, /answered 503/)
    assert.match(bundle.logged(), /not pushed: asked for again within the hour/)

    finance.faults.clear()
    assert.equal((await call('POST', '/api/v1/admin/scheduled_tasks/finance_push/run')).status, 202)
    const row = await eventually('it is pushed', async () => {
      const now = await invoiceRow(bundle, id)
      return now.finance_invoice_id !== null && now
    })
    assert.deepEqual([row.finance_action, row.finance_error], ['updated', null])
    assert.equal(finance.invoices.size, 1)
  },
)

test('an operator’s own push does not wait for the backoff of one that failed, and never makes a second at once', async t => {
  const bundle = await setup(t, { finance: {}, worker: true })
  const { ctx, call, finance } = bundle
  const id = await haveIngested(bundle)
  finance.faults.add({ fault: 'server_error', status: 503 })
  await requestPush(ctx.db, ctx, id)
  await eventually('the first attempt failed', async () => (await pushJobs(bundle))[0]?.state === 'retry')
  await sql`update pgboss.job set start_after = now() + interval '10 minutes' where state = 'retry'`.execute(
    ctx.db,
  )
  assert.equal((await call('POST', `/api/v1/billing/invoices/${id}/push`)).status, 202)
  await eventually('it is pushed', async () => (await invoiceRow(bundle, id)).pushed_to_finance_at !== null)
  await eventually('no job is left', async () =>
    (await pushJobs(bundle)).every(({ state }) => state === 'completed'),
  )
  assert.equal((await pushJobs(bundle)).length, 1, 'the one that waited')
  assert.equal(finance.invoices.size, 1)
  assert.equal(finance.pushes.length, 2, 'the one that failed, and this one')
})

test('an invoice that finance refuses for good is not sent again at once', async t => {
  const bundle = await setup(t, { worker: true, finance: {} })
  const { ctx, finance } = bundle
  const id = await haveIngested(bundle, someLines, { invoice_uuid: 'x'.repeat(300) })
  await requestPush(ctx.db, ctx, id)
  await eventually('the job is done', async () => (await pushJobs(bundle))[0]?.state === 'completed')
  assert.equal(finance.pushes.length, 1)
  assert.match((await invoiceRow(bundle, id)).finance_error!, /answered 422: invalid_invoice/)
})

test('lines that change after the push, or during it, are pushed again as an update', async t => {
  const bundle = await setup(t, { finance: {} })
  const { ctx, finance } = bundle
  const id = await haveIngested(bundle)
  await pushInvoice(ctx, id, run)
  const before = await invoiceRow(bundle, id)

  const more: Line[] = [...someLines, { description: 'web-03 (s-1vcpu-1gb)', amount: '12.00' }]
  await giveLines(ctx.db, id, more)
  assert.equal(await pushInvoice(ctx, id, run), 'pushed')
  const after = await invoiceRow(bundle, id)
  assert.equal(after.finance_action, 'updated')
  assert.equal(after.finance_invoice_id, before.finance_invoice_id)
  assert.equal([...finance.invoices.values()][0]!.amount_net_minor, 2400)

  // The answer is lost, and meanwhile the lines are what they were: finance has to hear of it all the same.
  await giveLines(ctx.db, id, someLines)
  finance.faults.add({ fault: 'drop_after_commit' })
  await assert.rejects(pushInvoice(ctx, id, run), FinanceError)
  await giveLines(ctx.db, id, more)
  assert.equal(await pushInvoice(ctx, id, run), 'pushed')
  assert.equal([...finance.invoices.values()][0]!.amount_net_minor, 2400)

  const real = ctx.finance!
  let pushes = 0
  const interrupted = {
    ...ctx,
    finance: {
      ...real,
      async importInvoice(...args: Parameters<typeof real.importInvoice>) {
        const receipt = await real.importInvoice(...args)
        if (++pushes === 1) await giveLines(ctx.db, id, [...more, { amount: '1.00' }])
        return receipt
      },
    },
  }
  await giveLines(ctx.db, id, [{ amount: '7.00' }])
  assert.equal(await pushInvoice(interrupted, id, run), 'pushed')
  assert.equal(pushes, 2)
  assert.equal([...finance.invoices.values()][0]!.amount_net_minor, 2500)
  const last = await invoiceRow(bundle, id)
  assert.equal(last.pushed_lines_hash, last.lines_hash)
  assert.equal(finance.invoices.size, 1)
})

test(
  'a large invoice is sent as it is read, and half of it is never taken for the whole',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { finance: {} })
    const { ctx, finance } = bundle
    const lines = Array.from({ length: 1_500 }, (_, n): Line => ({ amount: `${n}.01` }))
    const id = await haveIngested(bundle, lines)
    assert.equal(await pushInvoice(ctx, id, run), 'pushed')
    const [kept] = [...finance.invoices.values()]
    assert.deepEqual(
      kept!.lines.map(line => line.amount),
      lines.map(line => line.amount),
    )

    // Replaced when the first lines are on their way.
    const real = ctx.finance!
    let started = 0
    const interrupted = {
      ...ctx,
      finance: {
        ...real,
        async importInvoice(...[body, options]: Parameters<typeof real.importInvoice>) {
          if (++started === 1) await giveLines(ctx.db, id, lines.slice(0, 1_200))
          return real.importInvoice(body, options)
        },
      },
    }
    await giveLines(ctx.db, id, lines.slice(1))
    assert.equal(await pushInvoice(interrupted, id, run), 'pushed')
    assert.equal(started, 2)
    assert.deepEqual(
      [...finance.invoices.values()].map(({ lines, pushes }) => [lines.length, pushes]),
      [[1_200, 2]],
    )

    await sql`update cloud_invoices set amount_net_minor = 1, pushed_lines_hash = '' where id = ${id}`.execute(
      ctx.db,
    )
    await assert.rejects(pushInvoice(ctx, id, run), /the lines are not what the invoice says/)
    assert.equal([...finance.invoices.values()][0]!.pushes, 2)
  },
)

test('every push has a token of its own: a minute long, for the platform tenant as admin, and refused by this API', async t => {
  const bundle = await setup(t, { finance: {} })
  const { ctx, clock, call } = bundle
  const { after: undo } = lasting(t)
  const tokens: string[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization!.replace('Bearer ', ''))
    response.writeHead(201, { 'content-type': 'application/json' })
    // Another shape of answer: no envelope, an id that is a number.
    request
      .resume()
      .on('end', () => response.end(JSON.stringify({ id: 41 + tokens.length, action: 'created' })))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo(() => server.close())
  const finance = financeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, clock)
  undo(() => finance.close())
  for (const expected of ['42', '43']) {
    const id = await haveIngested(bundle)
    await pushInvoice({ ...ctx, finance }, id, run)
    assert.equal((await invoiceRow(bundle, id)).finance_invoice_id, expected)
  }

  assert.notEqual(tokens[0], tokens[1])
  for (const token of tokens) {
    const options = {
      algorithms: ['HS256'],
      currentDate: clock.now(),
      issuer: 'cloudops',
      audience: 'finance',
    }
    const { payload } = await jwtVerify(token, Buffer.from(SECRET), options)
    assert.deepEqual([payload.tenant_id, payload.role], ['platform', 'admin'])
    assert.equal(payload.exp! - payload.iat!, 60)
    const { status, body } = await call('GET', '/api/v1/deployments', { token })
    assert.deepEqual([status, body.code], [401, 'unauthenticated'])
  }
})

test('where finance is, and as whom it is called, is the configuration’s to say', async t => {
  const seen: { line: string; token: string }[] = []
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    seen.push({ line: `${method} ${url}`, token: headers.authorization!.replace('Bearer ', '') })
    response.writeHead(201, { 'content-type': 'application/json' })
    request.resume().on('end', () => response.end('{"id": "1", "action": "created"}'))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const FINANCE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/books/`
  const own = {
    FINANCE_TENANT_ID: 'head-office',
    FINANCE_JWT_SECRET: 'a-secret-between-us-and-finance-alone',
  }
  const bundle = await setup(t, { env: { FINANCE_URL, PLATFORM_TENANT_ID: 'the-platform' } })
  const { config, engine, clock, log } = bundle.ctx
  const other = await createContext({ config: { ...config, ...own }, worker: false, engine, clock, log })
  t.after(() => other.jobs.stop(1_000))
  t.after(() => other.finance?.close())
  for (const [ctx, secret, tenant] of [
    [bundle.ctx, SECRET, 'the-platform'],
    [other, own.FINANCE_JWT_SECRET, 'head-office'],
  ] as const) {
    assert.equal(await pushInvoice(ctx, await haveIngested(bundle), run), 'pushed')
    const { line, token } = seen.pop()!
    assert.equal(line, 'POST /books/api/v1/integrations/cloud/import-invoice')
    const { payload } = await jwtVerify(token, Buffer.from(secret), { currentDate: clock.now() })
    assert.deepEqual([payload.tenant_id, payload.role], [tenant, 'admin'])
  }
})

test(
  'without a finance service nothing is asked for and nothing fails; one that appears later gets what it missed',
  onPostgresAlone,
  async t => {
    const bundle = await setup(t, { worker: false })
    const { ctx, clock } = bundle
    const ids = [await haveIngested(bundle), await haveIngested(bundle), await haveIngested(bundle)]
    await requestPush(ctx.db, ctx, ids[0]!)
    assert.equal(await requestMissingPushes(ctx), 0)
    assert.equal(await pushInvoice(ctx, ids[0]!, run), 'no_finance')
    assert.deepEqual(await pushJobs(bundle), [])

    const later = await setupFinance(t, clock)
    await startWorker({ ...ctx, finance: later.client })
    await eventually('all are pushed', async () => {
      const rows = await Promise.all(ids.map(id => invoiceRow(bundle, id)))
      return rows.every(row => row.pushed_to_finance_at !== null)
    })
    assert.equal(later.service.invoices.size, 3)
    const warnings = bundle
      .logged()
      .split('\n')
      .filter(line => /"level":(40|50|60)/.test(line))
    assert.deepEqual(warnings, [])
  },
)

async function setupFinance(t: Parameters<typeof setup>[0], clock: Bundle['clock']) {
  const { createSandboxFinance } = await import('../../sandbox/finance/server.ts')
  const service = createSandboxFinance({ secret: SECRET, clock })
  const client = financeClient((await service.listen()).url, clock)
  const { after: undo } = lasting(t)
  undo(() => service.close())
  undo(() => client.close())
  return { service, client }
}
