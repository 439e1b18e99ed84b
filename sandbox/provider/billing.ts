// Decides how money is shown: balance, invoices with the running month as a preview, their items, summary
// and CSV, and the billing history. Every figure is counted from the same invoice lines.
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import { decimal, type Invoice, invoiceCsv, periodBounds } from '../world/billing.ts'
import type { ProviderContext } from './endpoints.ts'
import { listing, notFound, pageable } from './protocol.ts'

type WithId = { Params: { id: string } }

const header = (billed: Invoice) => ({
  invoice_uuid: billed.uuid,
  invoice_id: billed.number,
  amount: decimal(billed.cents),
  invoice_period: billed.period,
})

export function billingRoutes(app: FastifyInstance, { world, clock }: ProviderContext): void {
  const { billing } = world
  const find = (id: string): Invoice => {
    const preview = billing.preview(clock.now())
    if (id === 'preview' || id === preview.uuid) return preview
    const billed = billing.invoices(clock.now()).find(item => item.uuid === id)
    if (billed === undefined) throw notFound()
    return billed
  }

  app.get('/v2/customers/my/balance', async () => {
    const usage = billing.preview(clock.now()).cents
    return {
      month_to_date_balance: decimal(usage),
      account_balance: decimal(0),
      month_to_date_usage: decimal(usage),
      generated_at: wholeSeconds(clock.now()),
    }
  })

  app.get('/v2/customers/my/invoices', async request => {
    const { invoices, ...paging } = listing(
      request,
      'invoices',
      pageable(billing.invoices(clock.now())),
      header,
    )
    const preview = { ...header(billing.preview(clock.now())), updated_at: wholeSeconds(clock.now()) }
    return { invoices, invoice_preview: preview, ...paging }
  })

  app.get<WithId>('/v2/customers/my/invoices/:id', async request => {
    const billed = find(request.params.id)
    const { start, end } = periodBounds(billed.period)
    const lines = {
      size: billed.lines.length,
      slice: (offset: number, limit: number) =>
        Array.from(
          { length: Math.max(0, Math.min(limit, billed.lines.length - offset)) },
          (_, index) => billed.lines.at(offset + index)!,
        ),
    }
    return listing(request, 'invoice_items', lines, line => ({
      product: line.product,
      ...(line.resourceId === undefined ? {} : { resource_id: line.resourceId }),
      group_description: line.group ?? '',
      description: line.description,
      amount: decimal(line.cents),
      duration: line.hours === undefined ? '' : String(line.hours),
      duration_unit: line.hours === undefined ? '' : 'Hours',
      start_time: wholeSeconds(start),
      end_time: wholeSeconds(end),
      project_name: line.project ?? '',
    }))
  })

  app.get<WithId>('/v2/customers/my/invoices/:id/csv', async (request, reply) => {
    const billed = find(request.params.id)
    const month = periodBounds(billed.period).start.toLocaleString('en-US', {
      year: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    })
    const [name, year] = month.split(' ')
    reply
      .type('text/csv')
      .header(
        'content-disposition',
        `attachment; filename="DigitalOcean Invoice ${year} ${name} (${billed.number}).csv"`,
      )
    return reply.send(Readable.from(inChunks(invoiceCsv(billed, billing.currency))))
  })

  app.get<WithId>('/v2/customers/my/invoices/:id/summary', async request => summary(find(request.params.id)))

  function summary(billed: Invoice) {
    const byProduct = new Map<string, { cents: number; count: number }>()
    for (const line of billed.lines) {
      const sum = byProduct.get(line.product) ?? { cents: 0, count: 0 }
      byProduct.set(line.product, { cents: sum.cents + line.cents, count: sum.count + 1 })
    }
    const centsOf = (product: string) => byProduct.get(product)?.cents ?? 0
    const apart = ['Taxes', 'Credits', 'Bandwidth']
    const charges = [...byProduct].filter(([product]) => !apart.includes(product))
    return {
      invoice_uuid: billed.uuid,
      invoice_id: billed.number,
      billing_period: billed.period,
      amount: decimal(billed.cents),
      user_name: billing.customer.name,
      user_company: billing.customer.company,
      user_email: billing.customer.email,
      product_charges: {
        name: 'Product usage charges',
        amount: decimal(charges.reduce((sum, [, entry]) => sum + entry.cents, 0)),
        items: charges.map(([name, { cents, count }]) => ({
          amount: decimal(cents),
          name,
          count: String(count),
        })),
      },
      overages: { name: 'Overages', amount: decimal(centsOf('Bandwidth')) },
      taxes: { name: 'Taxes', amount: decimal(centsOf('Taxes')) },
      credits_and_adjustments: { name: 'Credits & adjustments', amount: decimal(centsOf('Credits')) },
    }
  }

  app.get('/v2/customers/my/billing_history', async request => {
    // Each invoice is issued on the first of the next month and paid the day after.
    const entries = billing.invoices(clock.now()).flatMap(billed => {
      const issued = periodBounds(billed.period).end.getTime() + 1000 + 8 * 3_600_000
      return [
        {
          description: 'Payment (Card)',
          amount: decimal(-billed.cents),
          date: wholeSeconds(new Date(issued + 24 * 3_600_000)),
          type: 'Payment',
        },
        {
          description: `Invoice for ${billed.period}`,
          amount: decimal(billed.cents),
          invoice_id: billed.number,
          invoice_uuid: billed.uuid,
          date: wholeSeconds(new Date(issued)),
          type: 'Invoice',
        },
      ]
    })
    return listing(request, 'billing_history', pageable(entries))
  })
}

/** A million rows one by one would be a million writes. */
function* inChunks(rows: Iterable<string>): Generator<string> {
  let chunk = ''
  for (const row of rows) {
    chunk += row
    if (chunk.length > 65_536) {
      yield chunk
      chunk = ''
    }
  }
  yield chunk
}
