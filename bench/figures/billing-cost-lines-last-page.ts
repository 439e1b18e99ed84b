// The last page of a million cost lines beside the first: a page must cost the same however deep it lies.
import { deepStrictEqual } from 'node:assert'
import { query } from '../databases.ts'
import type { Bench, Figure, Measurement } from '../figure.ts'
import { ingester, LINES, withInvoiceFile } from '../invoice.ts'
import { bodyOf, ROUNDS, round, warmUp } from '../list.ts'
import { type Round, underLoad } from '../load.ts'
import { alternate, median } from '../rounds.ts'
import { startServer } from '../server-process.ts'
import { headersFor, serviceEnvironment } from '../service-environment.ts'

const PATH = '/api/v1/billing/cost-lines?period=2026-09-15&limit=100'

export default {
  name: 'billing-cost-lines-last-page',
  measures: `the last page of \`GET ${PATH}\` over the 1,000,000 lines of that month, through the service.`,
  peer: 'the first page of the same listing, through the same process.',
  unit: 'requests/s',
  bar: { atLeast: 0.9 },
  measure,
} satisfies Figure

async function measure(bench: Bench): Promise<Measurement> {
  const url = await bench.filled('million-cost-lines', fill(bench))
  const environment = serviceEnvironment(url)
  const service = await startServer('service.ts', environment)
  const headers = await headersFor(environment.JWT_SECRET, { role: 'platform_admin' })
  const filters = ['', '&kind=droplet', '&matched=true']
  const rows: { filter: string; rounds: { ours: Round; peer: Round }[] }[] = []
  for (const filter of filters) {
    const path = PATH + filter
    const last = `${path}&cursor=${await lastCursor(url, filter)}`
    const [firstPage, lastPage] = [
      await bodyOf(service.url + path, headers),
      await bodyOf(service.url + last, headers),
    ]
    deepStrictEqual([firstPage.data.length, lastPage.data.length], [100, 100])
    deepStrictEqual([firstPage.next_cursor === null, lastPage.next_cursor === null], [false, true])
    bench.say(`${path}: warming up, then ${ROUNDS} rounds`)
    await underLoad(service, warmUp(path, headers))
    await underLoad(service, warmUp(last, headers))
    const rounds = await alternate(
      ROUNDS,
      () => underLoad(service, round(last, headers)),
      () => underLoad(service, round(path, headers)),
    )
    rows.push({ filter, rounds })
  }
  await service.stop()
  const rate = (rounds: { ours: Round; peer: Round }[], side: 'ours' | 'peer') =>
    median(rounds.map(pair => pair[side].perSecond))
  const { rounds } = rows[0]!
  return {
    ours: rate(rounds, 'ours'),
    peer: rate(rounds, 'peer'),
    details: [
      `${ROUNDS} alternating rounds of 2 s with 32 connections after warming up; medians. The figure is the first row; the others are filtered further.`,
      '',
      '| Filter | Last page, requests/s | First page, requests/s | Ratio |',
      '|---|---:|---:|---:|',
      ...rows.map(({ filter, rounds }) => {
        const [last, first] = [rate(rounds, 'ours'), rate(rounds, 'peer')]
        return `| \`period${filter}\` | ${last.toFixed(0)} | ${first.toFixed(0)} | ${(last / first).toFixed(2)} |`
      }),
    ],
  }
}

const fill =
  ({ say }: Bench) =>
  (url: string) =>
    withInvoiceFile(async (file, amount) => {
      say('ingesting an invoice of 1,000,000 lines')
      const worker = await ingester(url, file, amount)
      await worker.ask({ anew: true })
      await worker.stop()
      await query(url, 'vacuum analyze cloud_cost_lines')
    })

/** As following next_cursor through all the pages would give it. */
async function lastCursor(url: string, filter: string): Promise<string> {
  // The one line that is no droplet's is the last.
  const lines = filter === '' ? LINES : LINES - 1
  const where = filter === '' ? '' : "where kind = 'droplet'"
  const [row] = await query(
    url,
    `select period::text as period, id from cloud_cost_lines ${where} order by period, id offset $1 limit 1`,
    [lines - 101],
  )
  const { period, id } = row as { period: string; id: string }
  return Buffer.from(JSON.stringify(['cost_lines', period, id])).toString('base64url')
}
