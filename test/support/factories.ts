// Rows for tests, made through the API as anyone would make them.
import assert from 'node:assert/strict'
import type { Bundle } from './setup.ts'

let made = 0
/** Names that sort in the order they were made in, however many tests share the process. */
const unique = (what: string) => `${what}-${String(++made).padStart(6, '0')}`

/** A deployment of the tenant, made by a platform_admin. */
export async function deployment({ call }: Bundle, tenantId = 'acme', fields: object = {}) {
  const { status, body, text } = await call('POST', '/api/v1/deployments', {
    body: { tenant_id: tenantId, slug: unique('app'), ...fields },
  })
  assert.equal(status, 201, text)
  return body.data
}

export async function move({ call }: Bundle, id: string, ...states: string[]) {
  for (const state of states) {
    const { status, text } = await call('POST', `/api/v1/deployments/${id}/transition`, { body: { state } })
    assert.equal(status, 200, text)
  }
}

/** A plan with one published version; its code. */
export async function plan(
  bundle: Bundle,
  { code = unique('plan'), price = 4900, currency = 'USD', items = [] as object[] } = {},
): Promise<string> {
  const created = await bundle.call('POST', '/api/v1/catalog/plans', { body: { code, name: code } })
  assert.equal(created.status, 201, created.text)
  await publish(bundle, code, { base_price_cents: price, currency, items })
  return code
}

/** Makes a draft of the plan and publishes it; the version's id. */
export async function publish(
  { call }: Bundle,
  code: string,
  draft: { base_price_cents: number; currency?: string; items?: object[] },
): Promise<string> {
  const made = await call('POST', `/api/v1/catalog/plans/${code}/versions`, {
    body: { currency: 'USD', items: [], ...draft },
  })
  assert.equal(made.status, 201, made.text)
  const { status, text } = await call(
    'POST',
    `/api/v1/catalog/plans/${code}/versions/${made.body.data.version}/publish`,
  )
  assert.equal(status, 200, text)
  return made.body.data.id
}

export async function addon({ call }: Bundle, fields: object = {}): Promise<string> {
  const body = { code: unique('addon'), resource_kind: 'volume', qty: 100, price_cents: 500, ...fields }
  const { status, text } = await call('POST', '/api/v1/catalog/addons', { body })
  assert.equal(status, 201, text)
  return body.code
}
