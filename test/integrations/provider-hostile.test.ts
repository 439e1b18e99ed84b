// A provider that answers to do harm: what unfolds to more than it was, headers without end, numbers that are none.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { mapItem, ProviderError } from '../../src/integrations/digitalocean/index.ts'
import { fixture, setup } from './scripted-provider.ts'

const MB = 1024 * 1024
const compressed = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync,
  'gzip, gzip': (bytes: Uint8Array) => gzipSync(gzipSync(bytes)),
}

async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    assert.ok(error instanceof ProviderError, String(error))
    return error.message
  }
  assert.fail('it was taken')
}

async function drained(bytes: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const chunk of bytes) size += chunk.byteLength
  return size
}

for (const [encoding, compress] of Object.entries(compressed)) {
  describe(`an answer compressed by ${encoding}`, () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }

    test('is read like any other, as JSON and as a file', async t => {
      const json = compress(Buffer.from(JSON.stringify(fixture('balance.get'))))
      const csv = compress(Buffer.from('a,b\n1,2\n'))
      const { provider } = await setup(t, ({ path }) =>
        path.endsWith('/csv')
          ? { headers: { ...headers, 'content-type': 'text/csv' }, body: csv }
          : { headers, body: json },
      )
      assert.equal((await provider.balance()).account_balance, '12.23')
      assert.equal(await drained(await provider.invoiceCsv('u')), 8)
    })

    test('is refused when it unfolds to too much, as JSON and as a file', async t => {
      const bomb = compress(Buffer.alloc(4 * MB, ' '))
      assert.ok(bomb.length < 40_000, `${bomb.length} bytes are sent`)
      const { provider, requests } = await setup(
        t,
        ({ path }) => ({
          headers: path.endsWith('/csv') ? { ...headers, 'content-type': 'text/csv' } : headers,
          body: bomb,
        }),
        { maxBodyBytes: MB, maxUnfoldedBytes: 2 * MB },
      )
      assert.equal(await refusal(provider.balance()), `the answer is larger than ${MB} bytes`)
      const listing = await provider.list('volume')
      assert.deepEqual([listing.complete, listing.items.length], [false, 0])
      const unfolds = `the compressed answer unfolds to more than ${2 * MB} bytes`
      assert.equal(await refusal(provider.invoiceCsv('u').then(drained)), unfolds)
      assert.equal(requests.at(-1)?.headers['accept-encoding'], 'identity', 'files are asked for as they are')
    })

    test('is no longer read than that when it is an error’s explanation', async t => {
      const { provider } = await setup(t, () => ({
        status: 422,
        headers,
        body: compress(Buffer.alloc(MB, ' ')),
      }))
      assert.match(await refusal(provider.balance()), /^the provider answered 422: no explanation$/)
    })
  })
}

test('an answer of few bytes and very many values is refused before it is parsed', async t => {
  const body = `{"volumes":[${'{},'.repeat(3_500_000)}{}]}`
  const { provider } = await setup(t, () => ({ headers: { 'content-type': 'application/json' }, body }))
  assert.match((await provider.list('volume')).reason ?? '', /the answer holds more than 2000000 values$/)
})

test('headers without end are refused, and so is a compression that nobody knows or that is none', async t => {
  const flood = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`x-${n}`, 'y'.repeat(20)]))
  const { provider } = await setup(
    t,
    (_, count) =>
      count === 1
        ? { headers: flood, body: {} }
        : { headers: { 'content-encoding': count === 2 ? 'gzip' : 'x-own' }, body: 'not gzip' },
    { attempts: 1 },
  )
  assert.match(await refusal(provider.balance()), /^the connection failed \(UND_ERR_HEADERS_OVERFLOW\)$/)
  assert.match(await refusal(provider.balance()), /^the (connection failed|answer)/)
  assert.match(await refusal(provider.balance()), /^the answer is cut or not JSON$/)
})

test('numbers, totals and pages beyond all measure are refused or become none', async t => {
  const bodies = [
    '{"volumes":[{"id":"v","size_gigabytes":1e400}],"meta":{"total":1}}',
    '{"volumes":[],"meta":{"total":1e400}}',
    '{"volumes":[],"meta":{"total":9007199254740991}}',
    '{"volumes":[{"id":1e400}],"meta":{"total":1}}',
    '{"volumes":[{"id":"v"}],"meta":{"total":2},"links":{"pages":{"next":"https://x/?page=99999999999"}}}',
  ]
  const { provider } = await setup(t, (_, count) => ({ body: bodies[count - 1] }))
  const first = await provider.list('volume')
  assert.deepEqual(
    [first.complete, JSON.stringify(mapItem('volume', first.items[0]!).attrs)],
    [true, '{"size_gigabytes":null}'],
  )
  const reasons: (string | null)[] = []
  for (let page = 1; page < bodies.length; page++) reasons.push((await provider.list('volume')).reason)
  assert.deepEqual(reasons, [
    '/v2/volumes: page 1: the stated total is not a count',
    '/v2/volumes: page 1: the stated total is not a count',
    '/v2/volumes: page 1: item 1 of volumes has no usable id',
    '/v2/volumes: page 1: the link to the next page names no page',
  ])
})

test('an invoice or a balance that makes no sense is told in words, and costs the other invoices nothing', async t => {
  const invoice = { invoice_uuid: 'u1', invoice_id: '1', amount: '1.00', invoice_period: '2026-10' }
  const odd = [
    { ...invoice, invoice_uuid: 'u2', amount: 'NaN' },
    { ...invoice, invoice_uuid: 'u\0', invoice_id: {} },
    { ...invoice, invoice_uuid: 'u3', invoice_period: '2026-13' },
    { ...invoice, invoice_uuid: 'u4', invoice_id: 'n'.repeat(1_000) },
  ]
  const { provider } = await setup(t, ({ path }) => ({
    body: path.endsWith('/balance')
      ? { ...(fixture('balance.get') as object), generated_at: '+275760-09-13T00:00:00Z' }
      : { invoices: [invoice, ...odd], meta: { total: 5 } },
  }))
  const listed = await provider.invoices()
  assert.deepEqual(
    listed.items.map(({ invoice_uuid, invoice_id }) => [invoice_uuid, invoice_id]),
    [
      ['u1', '1'],
      ['u4', null],
    ],
  )
  assert.deepEqual([listed.complete, listed.odd], [true, 'amount is not a decimal number'])
  assert.equal(await refusal(provider.balance()), 'generated_at is not a time')
})

test('looking for user names in addresses takes no longer than reading them', () => {
  const raw = {
    id: 'v',
    description: `${'a'.repeat(400_000)}://${'b'.repeat(400_000)}`,
    note: 'x://u:p@h https://k@h/',
  }
  const { attrs } = mapItem('volume', raw)
  assert.deepEqual([attrs.description, attrs.note], [raw.description, 'x://h https://h/'])
})
