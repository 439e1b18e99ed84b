// Run by nouns.test.ts with add-field.ts loaded before it: where does the added field show?
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { haveInvoice, ingest } from '../../support/billing.ts'
import { csv, row } from '../../support/csv.ts'
import { desire, drifts, droplet, sweepDrift } from '../../support/drift.ts'
import { addon, deployment, move } from '../../support/factories.ts'
import { kindOf, start, step } from '../../support/sagas.ts'
import { setup } from '../../support/setup.ts'
import { haveProject } from '../../support/sweep.ts'
import { receiver } from '../../support/webhook-receiver.ts'
import { NOUNS } from './add-field.ts'

const VALUE = 'here'

test('the added field', async t => {
  const bundle = await setup(t, {
    env: { WEBHOOKS_ALLOW_PRIVATE: 'true' },
    worker: true,
    sagaKinds: () => [kindOf('plain', [step('only', [])])],
  })
  const { ctx, call, app } = bundle
  // Drift that a rule ignores has a table of its own.
  for (const table of [...Object.values(NOUNS), 'cloud_drift_ignored'])
    await sql`alter table ${sql.id(table)} add column extra_field text default ${sql.lit(VALUE)}`.execute(
      ctx.db,
    )

  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, { body })
    assert.ok(answer.status < 300, answer.text)
    return answer.body.data
  }
  const shows = async (noun: string, ...paths: string[]) => {
    for (const path of paths) {
      const { status, body, text } = await call('GET', path)
      assert.equal(status, 200, `${path} ${text}`)
      const item = Array.isArray(body.data) ? body.data[0] : body.data
      assert.equal(item?.extra_field, VALUE, `${noun} at ${path}: ${text.slice(0, 300)}`)
    }
  }
  const it = await receiver(t)
  const hook = await made('/api/v1/admin/webhooks', { url: it.url, events: ['*'] })

  const shop = await deployment(bundle)
  await move(bundle, shop.id, 'paused')
  await haveProject(bundle, 'acme', 'acme', [['droplet', '1']])
  const resource = await droplet(bundle, { provider_id: '1', name: 'web', attrs: { memory: 2048 } })
  await desire(bundle, resource, { memory: 512 })
  await sweepDrift(bundle)
  const [open] = await drifts(bundle)
  const run = await start(bundle, 'plain')
  const invoice = await haveInvoice(bundle)
  await ingest(bundle, invoice, csv([row()]))
  const code = await addon(bundle)
  const price = await made('/api/v1/catalog/resource-prices', {
    resource_kind: 'droplet',
    unit: 'hour',
    price_cents: 1,
    currency: 'USD',
    effective_from: '2027-01-01',
  })
  const rule = await made('/api/v1/drift/ignore-rules', { field: 'size', reason: 'known' })
  const [project] = (await call('GET', '/api/v1/projects')).body.data

  const api = '/api/v1'
  await shows('Deployment', `${api}/deployments`, `${api}/deployments/${shop.id}`)
  await shows('Resource', `${api}/inventory`, `${api}/inventory/${resource}`)
  await shows('Drift', `${api}/drift`, `${api}/drift/${open.id}`)
  await shows('SagaRun', `${api}/sagas`, `${api}/sagas/${run.id}`)
  await shows('Invoice', `${api}/billing/invoices`, `${api}/billing/invoices/${invoice.id}`)
  await shows('Project', `${api}/projects`, `${api}/projects/${project.id}`)
  await shows('Addon', `${api}/catalog/addons`, `${api}/catalog/addons/${code}`)
  await shows('ResourcePrice', `${api}/catalog/resource-prices`, `${api}/catalog/resource-prices/${price.id}`)
  await shows('IgnoreRule', `${api}/drift/ignore-rules`, `${api}/drift/ignore-rules/${rule.id}`)
  await shows('Webhook', `${api}/admin/webhooks`, `${api}/admin/webhooks/${hook.id}`)

  const { rows } = await sql<{ type: string; data: Record<string, { extra_field?: string }> }>`
    select type, data from webhook_events`.execute(ctx.db)
  for (const [type, member] of [
    ['deployment.transitioned', 'deployment'],
    ['resource.discovered', 'resource'],
    ['drift.opened', 'drift'],
    ['invoice.ingested', 'invoice'],
  ]) {
    const event = rows.find(row => row.type === type)
    assert.equal(event?.data[member!]?.extra_field, VALUE, type)
  }

  const audit = (await call('GET', `${api}/admin/audit_log?limit=200`)).body.data as {
    subject_type: string
    action: string
    after: { extra_field?: string }
  }[]
  for (const table of [
    'cloud_deployments',
    'addons',
    'resource_prices',
    'drift_ignore_rules',
    'webhooks',
    'saga_runs',
  ]) {
    const entry = audit.find(({ subject_type, action }) => subject_type === table && action === 'created')
    assert.equal(entry?.after.extra_field, VALUE, `audit entry of ${table}`)
  }

  const { schemas } = (app.swagger() as { components: { schemas: Record<string, { properties: object }> } })
    .components
  for (const noun of Object.keys(NOUNS)) assert.ok('extra_field' in schemas[noun]!.properties, noun)
})
