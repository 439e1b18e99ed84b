// Backends that are activated, deleted and filled at the same time. On PostgreSQL alone: PGlite runs one statement at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { haveInvoice, ingest, invoiceOf } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { needsPostgres } from '../support/engine.ts'
import { base, filesKept, setupPlaces } from '../support/storage.ts'

const ROUNDS = 30
const env = { RATE_LIMIT_PER_MINUTE: '0' }

test(
  'of backends that are activated at once every request is answered, and one is active afterwards',
  needsPostgres,
  async t => {
    const { call, have, ctx } = await setupPlaces(t, { env })
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push(await have({ name: `b${n}`, kind: 'local', folder: 'a' }, false))
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(ids.map(id => call('POST', `${base}/${id}/activate`)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200],
      )
      const active = await ctx.db
        .selectFrom('storage_backends')
        .select('id')
        .where('active', '=', true)
        .execute()
      assert.equal(active.length, 1, `round ${round}`)
    }
  },
)

test(
  'a backend that is deleted while a file is kept there is gone and empty, or stays with the file',
  needsPostgres,
  async t => {
    const places = await setupPlaces(t, { env })
    const { call, have } = places
    for (let round = 0; round < ROUNDS; round++) {
      const invoice = await haveInvoice(places)
      const id = await have({ name: `b${round}`, kind: 'local', folder: `f${round}` })
      const [outcome, deleted] = await Promise.all([
        ingest(places, invoice, csv([row()])).catch((error: unknown) => error),
        call('DELETE', `${base}/${id}`),
      ])
      const kept = (await filesKept(places)).filter(({ invoice_id }) => invoice_id === invoice.id)
      if (deleted.status === 409) assert.deepEqual([outcome, kept.length], ['ingested', 1])
      else {
        assert.deepEqual([deleted.status, kept.length], [204, 0])
        // The backend was gone before, or vanished under the job, which the queue then runs again.
        if (outcome !== 'ingested') {
          assert.equal((await invoiceOf(places, invoice)).ingest_status, 'failed')
          assert.equal(await ingest(places, invoice, csv([row()])), 'ingested')
        }
      }
    }
  },
)

test('two ingests of one file at once keep it once', needsPostgres, async t => {
  const places = await setupPlaces(t, { env })
  const { have, bucket, s3 } = places
  await have(s3)
  for (let round = 0; round < ROUNDS; round++) {
    const invoice = await haveInvoice(places)
    const file = csv([row({ hours: String(round) })])
    const outcomes = await Promise.all([ingest(places, invoice, file), ingest(places, invoice, file)])
    assert.ok(outcomes.includes('ingested'), outcomes.join())
    const kept = (await filesKept(places)).filter(({ invoice_id }) => invoice_id === invoice.id)
    assert.deepEqual(
      kept.map(({ key }) => String(bucket.objects.get(`raw/${key}`))),
      [file],
    )
  }
})
