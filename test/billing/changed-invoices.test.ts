// Invoices that the provider changes after their lines were read: what is shown, and what finance hears, until the new file is in.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import { countTroubledInvoices, upsertInvoices } from '../../src/features/billing/invoice-store.ts'
import { pushInvoice, requestMissingPushes } from '../../src/features/billing/push-invoice.ts'
import { oneProvider } from '../../src/integrations/digitalocean/index.ts'
import { haveInvoice, ingest, invoiceOf } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { type Bundle, setup, silentLog } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'

const run = { log: silentLog }
const FILE = csv([row()])
const NEW_FILE = csv([row({ USD: '$7.00' })])

/** The provider lists the invoice with something else than before. */
const relist = ({ ctx }: Bundle, invoice: InvoiceRow, changed: Partial<InvoiceRow>) => {
  const { invoice_uuid, invoice_number, period, amount } = { ...invoice, ...changed }
  return upsertInvoices(
    ctx.db,
    [{ invoice_uuid, invoice_number, period, amount }],
    '2026-11-20T00:00:00.000Z',
  )
}

async function shown(bundle: Bundle, invoice: InvoiceRow) {
  const { ingest_status, reconciled, finance_status } = (await invoiceOf(bundle, invoice)) as InvoiceRow & {
    finance_status: string
  }
  return [ingest_status, reconciled, finance_status]
}

async function havePushed(bundle: Bundle) {
  const invoice = await haveInvoice(bundle)
  assert.equal(await ingest(bundle, invoice, FILE), 'ingested')
  assert.equal(await pushInvoice(bundle.ctx, invoice.id, run), 'pushed')
  assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'pushed'])
  return invoice
}

test('a changed amount makes an invoice unreconciled and outdated until its new file is in, and finance hears nothing before', async t => {
  const bundle = await setup(t, { finance: {} })
  const { ctx, call, finance } = bundle
  const invoice = await havePushed(bundle)
  await relist(bundle, invoice, { amount: '7.00' })
  const stale = [false, 'outdated']
  assert.deepEqual(await shown(bundle, invoice), ['pending', ...stale])
  const { not_pushed, not_reconciled } = await countTroubledInvoices(ctx.db)
  assert.deepEqual([not_pushed, not_reconciled], [1, 1])

  // A bad file is not the new one, and what finance has is not made new by being sent again.
  await assert.rejects(
    ingest(bundle, invoice, csv([row({ USD: '€7.00' })])),
    /"€7.00" is not an amount in USD/,
  )
  assert.deepEqual(await shown(bundle, invoice), ['failed', ...stale])
  assert.equal(await requestMissingPushes(ctx), 0)
  assert.equal(await pushInvoice(ctx, invoice.id, run), 'nothing_to_push')
  const asked = await call('POST', `/api/v1/billing/invoices/${invoice.id}/push`)
  assert.deepEqual([asked.status, asked.body.code], [409, 'not_ingested'])
  await relist(bundle, invoice, { amount: '7.00', invoice_number: 'renamed' })
  assert.deepEqual(await shown(bundle, invoice), ['failed', ...stale])
  assert.equal(finance.pushes.length, 1)

  assert.equal(await ingest(bundle, invoice, NEW_FILE), 'ingested')
  assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'outdated'])
  assert.equal(await pushInvoice(ctx, invoice.id, run), 'pushed')
  assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'pushed'])
  assert.deepEqual(
    [...finance.invoices.values()].map(({ amount_gross_minor }) => amount_gross_minor),
    [700],
  )
})

test('an amount that is changed and changed back is as before once the file was looked at, and finance is not told again', async t => {
  const bundle = await setup(t, { finance: {} })
  const invoice = await havePushed(bundle)
  await relist(bundle, invoice, { amount: '7.00' })
  await relist(bundle, invoice, { amount: '6.00' })
  assert.deepEqual(await shown(bundle, invoice), ['pending', false, 'outdated'])
  assert.equal(await ingest(bundle, invoice, FILE), 'unchanged')
  assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'pushed'])
  assert.equal(await pushInvoice(bundle.ctx, invoice.id, run), 'nothing_to_push')
  assert.equal(bundle.finance.pushes.length, 1)
})

test('one that waits for its file before finance knows it is pushed when the file has turned out to be the same', async t => {
  const bundle = await setup(t, { finance: {} })
  const { ctx } = bundle
  const invoice = await haveInvoice(bundle)
  await ingest(bundle, invoice, FILE)
  await relist(bundle, invoice, { amount: '6.01' })
  assert.deepEqual(await shown(bundle, invoice), ['pending', false, 'not_pushed'])
  assert.equal(await requestMissingPushes(ctx), 0)
  assert.equal(await ingest(bundle, invoice, FILE), 'unchanged')
  assert.deepEqual(await shown(bundle, invoice), ['ingested', false, 'not_pushed'])
  assert.equal(await pushInvoice(ctx, invoice.id, run), 'pushed')
})

test('an invoice without lines is not reconciled or pushed by a changed amount, but still waits for its first file', async t => {
  const bundle = await setup(t)
  const invoice = await haveInvoice(bundle)
  await relist(bundle, invoice, { amount: '7.00' })
  assert.deepEqual(await shown(bundle, invoice), ['pending', null, 'not_ingested'])
  await ingest(bundle, invoice, NEW_FILE)
  assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'not_pushed'])
})

test('an amount that changes while a file is on its way makes that file an old one: it is fetched again', async t => {
  const bundle = await setup(t, { finance: {} })
  const { ctx } = bundle
  for (const before of [undefined, FILE]) {
    const invoice = await haveInvoice(bundle)
    if (before !== undefined) await ingest(bundle, invoice, before)
    const invoiceCsv = async () => {
      await relist(bundle, invoice, { amount: '7.00' })
      return Readable.from([Buffer.from(FILE)])
    }
    const provider = { ...ctx.providers.for('cloud_billing'), invoiceCsv }
    await ingestInvoice({ ...ctx, providers: oneProvider(provider) }, invoice.id, jobPart())
    assert.deepEqual(await shown(bundle, invoice), ['pending', false, 'not_pushed'])
    assert.equal(await requestMissingPushes(ctx), 0)
    await ingest(bundle, invoice, NEW_FILE)
    assert.deepEqual(await shown(bundle, invoice), ['ingested', true, 'not_pushed'])
    assert.equal(await pushInvoice(ctx, invoice.id, run), 'pushed')
  }
})
