// From the provider's file to finance's books, and what an operator sees of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveLines, haveIngested, someLines } from '../support/billing.ts'
import { eventually } from '../support/eventually.ts'
import { type Bundle, setup } from '../support/setup.ts'

const base = '/api/v1/billing/invoices'

const pushed = ({ call }: Bundle, count: number) =>
  eventually('all are pushed', async () => {
    const { body } = await call('GET', base)
    const done = body.data.filter(
      (invoice: { finance_status: string }) => invoice.finance_status === 'pushed',
    )
    return done.length === count && body.data
  })

test('invoices that the provider lists are ingested and pushed by themselves, to the cent', async t => {
  const bundle = await setup(t, { provider: {}, finance: {}, worker: true })
  const { call, finance } = bundle
  assert.equal((await call('POST', '/api/v1/admin/scheduled_tasks/billing_history/run')).status, 202)
  const listed = await eventually('invoices are listed', async () => {
    const { body } = await call('GET', base)
    return body.data.length > 0 && body.data.length
  })
  const invoices = await pushed(bundle, listed)
  assert.equal(finance.invoices.size, listed)
  const kept = new Map([...finance.invoices.values()].map(row => [row.external_id, row]))
  for (const invoice of invoices) {
    const row = kept.get(invoice.invoice_uuid)!
    assert.equal(invoice.finance_invoice_id, row.id)
    assert.equal(invoice.finance_action, 'created')
    assert.equal(row.amount_gross_minor, Math.round(Number(invoice.amount) * 100))
    assert.equal(row.amount_tax_minor, invoice.amount_tax_minor)
    assert.equal(row.lines.length, invoice.line_count)
  }
  assert.equal(finance.pushes.length, listed, 'each once')
})

test('an operator pushes an invoice on demand, also one that finance knows; and is told when that cannot be', async t => {
  const bundle = await setup(t, { finance: {}, worker: true })
  const { call, ctx, finance, tokens } = bundle
  const id = await haveIngested(bundle)
  const push = (which: string, token?: string) => call('POST', `${base}/${which}/push`, { token })
  assert.equal((await push(id)).status, 202)
  const [first] = await pushed(bundle, 1)
  assert.equal(first.finance_action, 'created')

  const again = await push(id)
  assert.deepEqual([again.status, again.body.data.finance_status], [202, 'outdated'])
  const [second] = await pushed(bundle, 1)
  assert.deepEqual([second.finance_action, second.finance_invoice_id], ['updated', first.finance_invoice_id])
  assert.equal(finance.invoices.size, 1)

  await giveLines(ctx.db, id, someLines.slice(1))
  assert.equal((await call('GET', `${base}/${id}`)).body.data.finance_status, 'outdated')

  const empty = await haveIngested(bundle, [], { invoice_number: 'not ingested' })
  await ctx.db
    .updateTable('cloud_invoices')
    .set({ ingest_status: 'pending', ingested_at: null, lines_hash: null })
    .where('id', '=', empty)
    .execute()
  const early = await push(empty)
  assert.deepEqual([early.status, early.body.code], [409, 'not_ingested'])
  assert.equal((await call('GET', `${base}/${empty}`)).body.data.finance_status, 'not_ingested')
  assert.equal((await push('01980000-0000-7000-8000-000000000000')).status, 404)
  assert.equal((await push('nonsense')).status, 404)
  assert.equal((await push(id, await tokens.tenant('acme'))).status, 403)
})

test('a push that is asked for without a finance service is refused, not skipped', async t => {
  const bundle = await setup(t)
  const id = await haveIngested(bundle)
  const { status, body } = await bundle.call('POST', `${base}/${id}/push`)
  assert.deepEqual([status, body.code], [409, 'finance_not_configured'])
  assert.equal((await bundle.call('GET', `${base}/${id}`)).body.data.finance_status, 'not_pushed')
})
