// Raw invoice files: kept where an operator says, recorded with the lines they are from, and given back unchanged.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { ingestInvoice } from '../../src/features/billing/ingest-invoice.ts'
import type { InvoiceRow } from '../../src/features/billing/invoice.ts'
import { costLines, haveInvoice, ingest, invoiceOf, runTask, whenFetched } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { onPostgresAlone } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { base, filesKept, setupPlaces } from '../support/storage.ts'
import { jobPart } from '../support/sweep.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const pathOf = ({ id }: Pick<InvoiceRow, 'id'>) => `/api/v1/billing/invoices/${id}/file`
const [A, B] = [csv([row()]), csv([row(), row({ description: 'é (x)' })])]
const keyOf = ({ invoice_uuid }: InvoiceRow, file: string) => `invoices/${invoice_uuid}/${sha256(file)}.csv`

test(
  'without an active backend nothing is kept, and with one what was fetched before is kept the next time',
  onPostgresAlone,
  async t => {
    const places = await setupPlaces(t)
    const { call, have, s3, bucket } = places
    const invoice = await haveInvoice(places)
    const idle = await have(s3, false)
    const notKept = async () => {
      const answer = await call('GET', pathOf(invoice))
      return [answer.status, answer.body.code]
    }
    assert.deepEqual(await notKept(), [404, 'file_not_kept'])
    assert.equal(await ingest(places, invoice, A), 'ingested')
    assert.deepEqual(await notKept(), [404, 'file_not_kept'])
    assert.equal(((await invoiceOf(places, invoice)) as { file?: unknown }).file, null)
    assert.deepEqual([bucket.requests, await filesKept(places)], [[], []])
    assert.equal((await call('GET', `/api/v1/billing/invoices/${idle}/file`)).body.code, 'not_found')

    await call('POST', `${base}/${idle}/activate`)
    assert.equal(await ingest(places, invoice, A), 'unchanged')
    assert.equal(String(bucket.objects.get(`raw/${keyOf(invoice, A)}`)), A)
    assert.equal((await call('GET', pathOf(invoice))).text, A)
    // Once is enough.
    assert.equal(await ingest(places, invoice, A), 'unchanged')
    assert.equal(bucket.requests.filter(({ method }) => method === 'PUT').length, 1)
    assert.equal((await filesKept(places)).length, 1)
  },
)

test('a kept file is shown with its invoice and comes back byte for byte; older ones stay, and so does their backend', async t => {
  const places = await setupPlaces(t)
  const { call, have, s3, bucket, dataDir, clock } = places
  const invoice = await haveInvoice(places)
  const disk = await have({ name: 'disk', kind: 'local', folder: 'raw' })
  assert.equal(await ingest(places, invoice, A), 'ingested')
  const key = keyOf(invoice, A)
  assert.equal(readFileSync(join(dataDir, 'storage/raw', key), 'utf8'), A)
  const file = { backend_id: disk, backend: 'disk', key, bytes: A.length, sha256: sha256(A) }
  const shown = (await invoiceOf(places, invoice)) as InvoiceRow & { file: unknown }
  assert.deepEqual(shown.file, { ...file, kept_at: clock.now().toISOString() })

  const answer = await call('GET', pathOf(invoice))
  assert.deepEqual([answer.status, answer.text], [200, A])
  const etag = `"${sha256(A)}"`
  const headers = {
    'content-type': 'text/csv',
    'content-length': String(A.length),
    'content-disposition': `attachment; filename="invoice-2026-10-${invoice.invoice_uuid}.csv"`,
    etag,
  }
  for (const { headers: sent } of [answer, await call('HEAD', pathOf(invoice))])
    for (const [name, value] of Object.entries(headers)) assert.equal(sent.get(name), value)
  const known = await call('GET', pathOf(invoice), { headers: { 'if-none-match': `"x", ${etag}` } })
  assert.deepEqual([known.status, known.text], [304, ''])
  assert.equal((await call('GET', pathOf(invoice), { headers: { 'if-none-match': '"x"' } })).status, 200)
  const token = await places.tokens.tenant('acme')
  assert.equal((await call('GET', pathOf(invoice), { token })).status, 403)

  // Another file, in another backend; then the first file again, which both have then.
  await have(s3)
  assert.equal(await ingest(places, invoice, B), 'ingested')
  assert.equal((await call('GET', pathOf(invoice))).text, B)
  assert.equal(await ingest(places, invoice, A), 'ingested')
  assert.equal((await call('GET', pathOf(invoice))).text, A)
  assert.equal(bucket.requests.at(-1)!.method, 'GET', 'the active one is asked first')
  const kept = (name: string, text: string) => {
    const bytes = Buffer.byteLength(text)
    return { invoice_id: invoice.id, name, key: keyOf(invoice, text), bytes, sha256: sha256(text) }
  }
  const all = [kept('disk', A), kept('bucket', B), kept('bucket', A)]
  assert.deepEqual(await filesKept(places), all)
  assert.equal(await ingest(places, invoice, B), 'ingested')
  assert.deepEqual(await filesKept(places), all)
  assert.equal(bucket.requests.filter(({ method }) => method === 'PUT').length, 2)

  // All that were kept are listed, and an older one can still be read.
  const page = await call('GET', `${pathOf(invoice)}s?limit=2`)
  const rest = await call('GET', `${pathOf(invoice)}s?limit=2&cursor=${page.body.next_cursor}`)
  assert.deepEqual(
    [...page.body.data, ...rest.body.data].map(({ backend, sha256 }) => [backend, sha256]),
    all.map(({ name, sha256 }) => [name, sha256]).reverse(),
  )
  assert.equal((await call('GET', `${pathOf(invoice)}?sha256=${sha256(A)}`)).text, A)
  const never = await call('GET', `${pathOf(invoice)}?sha256=${sha256('never')}`)
  assert.deepEqual([never.status, never.body.code], [404, 'file_not_kept'])
  assert.equal((await call('GET', `/api/v1/billing/invoices/${disk}/files`)).status, 404)

  const refused = await call('DELETE', `${base}/${disk}`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'backend_in_use'])
  assert.equal((await call('GET', `${base}/${disk}`)).body.data.files, 1)

  // A bad file is no file of the invoice.
  await assert.rejects(ingest(places, invoice, csv([row({ USD: 'x' })])), /is not an amount/)
  assert.deepEqual(await filesKept(places), all)
})

test(
  'a backend that fails fails the ingest: the invoice says so, the lines stand, and the queue tries again',
  onPostgresAlone,
  async t => {
    const places = await setupPlaces(t, { worker: true, provider: {} })
    const { ctx, call, have, s3, bucket, sandbox } = places
    await have(s3)
    const [first] = sandbox.world.billing.invoices(sandbox.clock.now())
    bucket.faults.add({ fault: 'server_error', status: 503, path: first!.uuid, times: 'always' })
    await runTask(places, 'billing_history')
    const [failed, ...others] = await whenFetched(places)
    assert.deepEqual(
      [failed!.invoice_uuid, failed!.ingest_status, failed!.ingest_error, failed!.line_count],
      [
        first!.uuid,
        'failed',
        'the file could not be kept in “bucket”: the service answered 503 InternalError: simulated',
        null,
      ],
    )
    const recorded = async () => (await filesKept(places)).map(({ key }) => key).sort()
    const keys = (invoices: InvoiceRow[]) =>
      invoices.map(({ invoice_uuid, sha256 }) => `invoices/${invoice_uuid}/${sha256}.csv`).sort()
    assert.deepEqual(await recorded(), keys(others))

    await eventually('the queue will try again', async () => {
      const { rows } = await sql`
      select 1 from pgboss.job where data ->> 'job' = 'ingest_invoice' and state = 'retry'`.execute(ctx.db)
      return rows.length === 1
    })
    bucket.faults.clear()
    assert.equal(await ingestInvoice(ctx, failed!.id, jobPart()), 'ingested')
    const newest = await invoiceOf(places, failed!)
    assert.equal(newest.ingest_error, null)
    assert.deepEqual(await recorded(), keys([newest, ...others]))
    assert.equal(sha256((await call('GET', pathOf(newest))).text), newest.sha256)

    // With lines that stand, too.
    const before = await costLines(places, `invoice_id=${newest.id}`)
    bucket.faults.add({ fault: 'server_error', method: 'PUT', times: 'always' })
    await assert.rejects(ingest(places, newest, B), /could not be kept/)
    const { ingest_status, line_count } = await invoiceOf(places, newest)
    assert.deepEqual([ingest_status, line_count], ['failed', before.length])
    assert.deepEqual(await costLines(places, `invoice_id=${newest.id}`), before)
  },
)

test(
  'a file that is gone, damaged or cut short is never given as the whole, and the log says so',
  onPostgresAlone,
  async t => {
    const places = await setupPlaces(t)
    const { call, have, s3, bucket, dataDir, logged, url, tokens } = places
    const small = await haveInvoice(places)
    await have({ name: 'disk', kind: 'local', folder: 'raw' })
    await ingest(places, small, A)
    const path = join(dataDir, 'storage/raw', keyOf(small, A))
    const lines = () => logged().split('a kept file cannot be read back').length - 1
    const unavailable = async (says: RegExp) => {
      const answer = await call('GET', pathOf(small))
      assert.deepEqual([answer.status, answer.body.code], [503, 'file_unavailable'])
      assert.match(answer.body.detail, says)
      assert.equal(answer.headers.get('content-disposition'), null)
    }
    writeFileSync(path, A.replace('6.00', '7.00'))
    await unavailable(/^“disk” does not give the file: the file is not the one that was kept: its SHA-256/)
    writeFileSync(path, `${A}x`)
    await unavailable(/longer/)
    await places.ctx.storage.open({ kind: 'local', folder: 'raw' }).remove(keyOf(small, A))
    await unavailable(/: the file is not there\.$/)
    assert.equal(lines(), 3)

    // Too large to be looked at before the first bytes leave: then the answer breaks off.
    const large = await haveInvoice(places)
    await have(s3)
    await ingest(places, large, csv(Array.from({ length: 3_000 }, () => row())))
    for (const fault of ['wrong_bytes', 'cut'] as const) {
      bucket.faults.add({ fault, method: 'GET' })
      const headers = { authorization: `Bearer ${await tokens.admin()}` }
      const answer = await fetch(url + pathOf(large), { headers })
      assert.equal(answer.status, 200)
      await assert.rejects(answer.text(), fault)
    }
    assert.equal(lines(), 5)
    assert.equal(sha256((await call('GET', pathOf(large))).text), (await invoiceOf(places, large)).sha256)
  },
)

test(
  'a kept file that its backend has lost is put there again by the next ingest, also when its hash is known',
  onPostgresAlone,
  async t => {
    const places = await setupPlaces(t)
    const { call, have, s3, bucket, dataDir } = places
    const invoice = await haveInvoice(places)
    await have({ name: 'disk', kind: 'local', folder: 'raw' })
    await ingest(places, invoice, A)
    rmSync(join(dataDir, 'storage/raw', keyOf(invoice, A)))
    assert.equal(await ingest(places, invoice, A), 'unchanged')
    assert.equal(readFileSync(join(dataDir, 'storage/raw', keyOf(invoice, A)), 'utf8'), A)

    await have(s3)
    const object = `raw/${keyOf(invoice, A)}`
    await ingest(places, invoice, A)
    for (const lose of [
      () => bucket.objects.delete(object),
      () => bucket.objects.set(object, Buffer.from('x')),
    ]) {
      lose()
      assert.equal(await ingest(places, invoice, A), 'unchanged')
      assert.equal(String(bucket.objects.get(object)), A)
    }
    // Whoever may not look may still put.
    bucket.faults.add({ fault: 'server_error', status: 403, method: 'HEAD' })
    assert.equal(await ingest(places, invoice, A), 'unchanged')
    assert.equal((await filesKept(places)).length, 2)
    assert.equal((await call('GET', pathOf(invoice))).text, A)
  },
)

test(
  'reading a file that one backend has lost gives another’s copy, and where all have lost it, fetches it again',
  onPostgresAlone,
  async t => {
    const places = await setupPlaces(t, { provider: {}, worker: true })
    const { call, have, s3, bucket, dataDir } = places
    await have({ name: 'disk', kind: 'local', folder: 'raw' })
    await runTask(places, 'billing_history')
    const [invoice] = await whenFetched(places)
    const { text } = await call('GET', pathOf(invoice!))
    const path = join(dataDir, 'storage/raw', keyOf(invoice!, text))
    const object = `raw/${keyOf(invoice!, text)}`
    await have(s3)
    await call('POST', `/api/v1/billing/invoices/${invoice!.id}/ingest`)
    await eventually('the bucket has it too', async () => bucket.objects.has(object))
    await eventually('it is recorded', async () =>
      (await filesKept(places)).some(({ name }) => name === 'bucket'),
    )

    // As long, and another one: only whoever reads it finds out.
    bucket.objects.set(object, Buffer.from(text.replace(/.$/s, '!')))
    assert.equal((await call('GET', pathOf(invoice!))).text, text, 'the disk still has it')
    rmSync(path)
    const lost = await call('GET', pathOf(invoice!))
    assert.deepEqual([lost.status, lost.body.code], [503, 'file_unavailable'])
    await eventually('it is put again', async () => String(bucket.objects.get(object)) === text)
    await eventually('it is read again', async () => (await call('GET', pathOf(invoice!))).text === text)
  },
)
