// Races of billing that only a database with many connections has, round after round.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { billingHistory } from '../../src/features/billing/index.ts'
import { lockInvoice } from '../../src/features/billing/invoice-store.ts'
import { costLines, haveInvoice, ingest, invoiceOf } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { needsPostgres } from '../support/engine.ts'
import { setup } from '../support/setup.ts'
import { jobPart } from '../support/sweep.ts'

const ROUNDS = 30
const LINES = 300

const fileOf = (cents: number) =>
  csv(
    Array.from({ length: LINES }, (_, index) => row({ description: `vm-${index} (x)`, USD: `$0.0${cents}` })),
  )

test(
  'of two ingests of one invoice at once one set of lines stands, whole, and its sums with it',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    for (let round = 0; round < ROUNDS; round++) {
      const invoice = await haveInvoice(bundle, { amount: '3.00' })
      await ingest(bundle, invoice, fileOf(1))
      const outcomes = await Promise.all([2, 3].map(cents => ingest(bundle, invoice, fileOf(cents))))
      assert.ok(outcomes.includes('ingested'), outcomes.join())
      const lines = await costLines(bundle, `invoice_id=${invoice.id}&limit=500`)
      const amounts = [...new Set(lines.map(line => line.amount_minor))]
      assert.deepEqual([lines.length, amounts.length], [LINES, 1], `round ${round}: ${amounts}`)
      const { amount_net_minor, line_count } = await invoiceOf(bundle, invoice)
      assert.deepEqual([amount_net_minor, line_count], [LINES * amounts[0]!, LINES])
    }
  },
)

test(
  'a line assigned while its invoice is ingested again is assigned afterwards, or the operator is told',
  needsPostgres,
  async t => {
    const bundle = await setup(t)
    for (let round = 0; round < ROUNDS; round++) {
      const invoice = await haveInvoice(bundle, { amount: '3.00' })
      await ingest(bundle, invoice, fileOf(1))
      const [, line] = await costLines(bundle, `invoice_id=${invoice.id}&limit=2`)
      const path = `/api/v1/billing/cost-lines/${line!.id}/assign`
      const [, answer] = await Promise.all([
        ingest(bundle, invoice, fileOf(2)),
        bundle.call('POST', path, { body: { tenant_id: 'acme' } }),
      ])
      assert.ok([200, 404, 409].includes(answer.status), answer.text)
      const assigned = await costLines(bundle, `invoice_id=${invoice.id}&matched=true`)
      assert.deepEqual(
        assigned.map(({ description, tenant_id, amount_minor }) => [description, tenant_id, amount_minor]),
        answer.status === 200 ? [[line!.description, 'acme', 2]] : [],
        `round ${round}: ${answer.status}`,
      )
    }
  },
)

test('the list of invoices does not wait for one that is being ingested', needsPostgres, async t => {
  const bundle = await setup(t, { provider: {} })
  const { ctx } = bundle
  const history = () => billingHistory(ctx).run({ ...jobPart(), id: 'run', attempt: 1 })
  await history()
  const [invoice] = await ctx.db.selectFrom('cloud_invoices').select('id').execute()
  await ctx.db.transaction().execute(async tx => {
    await lockInvoice(tx, invoice!.id)
    await history()
  })
})
