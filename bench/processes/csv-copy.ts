// The peer of the ingest: the same file, parsed by csv-parse with its columns by name and copied with COPY into the same
// table, as one would write it by hand for this one file. It checks nothing and sums up nothing, and has whose each
// droplet is in memory before the time begins; so it fills the same columns and the same indexes with the same values.
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'
import { copyIn, field } from '../database.ts'
import { working } from '../process.ts'

export interface Copied {
  ms: number
}

const COPY = `copy cloud_cost_lines (id, invoice_id, period, line_number, product, group_description, description, kind,
  name, hours, start_at, end_at, amount, amount_minor, currency, project_name, category, is_tax, tax_flagged,
  resource_id, tenant_id, matched_by) from stdin`
const INVOICE = '01900000-0000-7000-8000-000000000000'
const CHUNK = 64 * 1024

const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()

const { rows: droplets } = await client.query<{ name: string; id: string; tenant_id: string }>(
  "select name, id, tenant_id from cloud_resources where kind = 'droplet'",
)
const dropletOf = new Map(droplets.map(droplet => [droplet.name, droplet]))

working<object, Copied>(async () => {
  await client.query('truncate cloud_cost_lines')
  await client.query('checkpoint')
  const began = performance.now()
  await client.query('begin')
  await copyIn(client, COPY, rows())
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
    const name = record.description!.split(' (', 1)[0]!
    const droplet = dropletOf.get(name)
    const values = [
      newId(),
      INVOICE,
      '2026-09-01',
      String(line),
      record.product!,
      record.group_description || null,
      record.description!,
      droplet ? 'droplet' : 'tax',
      droplet ? name : null,
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
      droplet?.id ?? null,
      droplet?.tenant_id ?? null,
      droplet ? 'auto' : null,
    ]
    text += `${values.map(field).join('\t')}\n`
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  yield text
}
