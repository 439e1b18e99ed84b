// Webhooks and the API show one thing in one shape: each is made from the same declaration.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { haveInvoice, ingest } from '../support/billing.ts'
import { csv, row } from '../support/csv.ts'
import { desire, drifts, droplet, sweepDrift } from '../support/drift.ts'
import { deployment, move } from '../support/factories.ts'
import { kindOf, run, step } from '../support/sagas.ts'
import { setup } from '../support/setup.ts'
import { haveProject } from '../support/sweep.ts'
import { allowPrivate, webhook } from '../support/webhook-receiver.ts'

interface Schema {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
}

/** Event → the member of its data, and the list of the API that shows the same. */
const SHOWN = {
  'deployment.transitioned': ['deployment', '/api/v1/deployments'],
  'resource.drift_detected': ['resource', '/api/v1/inventory'],
  'drift.opened': ['drift', '/api/v1/drift'],
  'saga.completed': ['saga', '/api/v1/sagas'],
  'invoice.ingested': ['invoice', '/api/v1/billing/invoices'],
} as const

test('what a webhook carries of a deployment, resource, drift, saga or invoice is what the API declares and shows', async t => {
  const kinds = [kindOf('good', [step('a', [])])]
  const bundle = await setup(t, { env: allowPrivate, sagaKinds: () => kinds, worker: true })
  const { call, ctx } = bundle
  // Nothing is ever taken there: the outbox is what is read.
  await webhook(bundle, { url: 'http://127.0.0.1:1/' })
  const shop = await deployment(bundle)
  await move(bundle, shop.id, 'paused')
  await haveProject(bundle, 'acme', 'acme', [['droplet', '1']])
  const resource = await droplet(bundle, { provider_id: '1', attrs: { memory: 1024 } })
  await desire(bundle, resource, { memory: 512 })
  await sweepDrift(bundle)
  assert.equal((await drifts(bundle)).length, 1)
  await run(bundle, 'good')
  await ingest(bundle, await haveInvoice(bundle), csv([row()]))

  const description = (await call('GET', '/api/v1/openapi.json')).body
  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : resolved(
          schema.$ref
            .split('/')
            .slice(1)
            .reduce((node, name) => node[name], description),
        )
  const declaredBy = (path: string): string[] => {
    const { content } = description.paths[path].get.responses[200]
    const page = resolved(content['application/json'].schema)
    return Object.keys(resolved(resolved(page.properties!.data!).items!).properties!)
  }
  const events = await ctx.db.selectFrom('webhook_events').select(['type', 'data']).execute()
  for (const [type, [member, path]] of Object.entries(SHOWN)) {
    const carried = events.findLast(event => event.type === type)?.data[member] as object
    const [listed] = (await call('GET', path)).body.data
    assert.deepEqual(Object.keys(carried).sort(), declaredBy(path).sort(), type)
    assert.deepEqual(carried, listed, type)
  }
})
