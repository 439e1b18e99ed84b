// The peer of the ingest: the same file, parsed by csv-parse with its columns by name and copied with COPY into the same
// table, as one would write it by hand for this one file. It checks nothing, matches nothing and sums up nothing.
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'
import { copyInAsync, field } from '../copy-in.ts'
import { working } from '../worker-process.ts'

export interface Copied {
  ms: number
}

const COPY = `copy cloud_cost_lines (id, invoice_id, period, line_number, product, group_description, description, kind,
  hours, start_at, end_at, amount, amount_minor, currency, project_name, category, is_tax, tax_flagged) from stdin`
const INVOICE = '01900000-0000-7000-8000-000000000000'
const CHUNK = 64 * 1024

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()

working<object, Copied>(async () => {
  await client.query('truncate cloud_cost_lines')
  await client.query('checkpoint')
  const began = performance.now()
  await client.query('begin')
  await copyInAsync(client, COPY, rows())
  await client.query('commit')
  return { ms: performance.now() - began }
})

async function* rows(): AsyncGenerator<string> {
  const parser = createReadStream(process.env.FILE!).pipe(
    parse({ bom: true, columns: true, relax_column_count_less: true }),
  )
  let text = ''
  let line = 1
  for await (const record of parser as AsyncIterable<Record<string, string>>) {
    line += 1
    const amount = record.USD!.replace(/[$,]/g, '')
    const values = [
      newId(),
      INVOICE,
      '2026-09-01',
      String(line),
      record.product!,
      record.group_description || null,
      record.description!,
      record.product!.toLowerCase(),
      record.hours || null,
      record.start!,
      record.end!,
      amount,
      amount.replace('.', ''),
      'USD',
      record.project_name || null,
      record.category || null,
      String(/gst|tax/i.test(record.description!)),
      'false',
    ]
    text += `${values.map(field).join('\t')}\n`
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  yield text
}
