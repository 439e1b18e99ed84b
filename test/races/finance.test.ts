// Pushes at the same moment, and line sets that change under them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pushInvoice } from '../../src/features/billing/push-invoice.ts'
import { FinanceError } from '../../src/integrations/finance/index.ts'
import { giveLines, haveIngested, invoiceRow } from '../support/billing.ts'
import { needsPostgres } from '../support/engine.ts'
import { setup, silentLog } from '../support/setup.ts'

test(
  'whatever pushes, lost answers and new lines come at once, finance ends with the last lines, once',
  needsPostgres,
  async t => {
    const bundle = await setup(t, { finance: {} })
    const { ctx, finance } = bundle
    const id = await haveIngested(bundle)
    finance.faults.add({ fault: 'drop_after_commit', times: 'always', share: 0.3 })
    // The queue runs one push of an invoice at a time; a worker that was thought dead makes it two.
    const push = () =>
      pushInvoice(ctx, id, { log: silentLog }).catch(error => {
        if (!(error instanceof FinanceError) && !/replaced while/.test(String(error))) throw error
      })
    for (let round = 1; round <= 15; round++) {
      const lines = [{ amount: `${round}.00` }, { amount: '0.10', description: 'GST' }]
      await Promise.all([push(), giveLines(ctx.db, id, lines), push(), push()])
      for (;;) {
        await push()
        const { lines_hash, pushed_lines_hash } = await invoiceRow(bundle, id)
        if (lines_hash === pushed_lines_hash) break
      }
      const [kept, ...others] = [...finance.invoices.values()]
      assert.deepEqual([kept!.amount_net_minor, others.length], [round * 100, 0], `round ${round}`)
      assert.equal((await invoiceRow(bundle, id)).finance_invoice_id, kept!.id)
    }
  },
)
