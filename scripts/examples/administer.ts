// Tasks are paused and resumed, API keys made, rotated and revoked, the audit log read; and what a request can get wrong by itself.
import { sql } from 'kysely'
import type { Teller } from './recorder.ts'

export async function administer(told: Teller): Promise<void> {
  const { tell } = told
  const tasks = '/api/v1/admin/scheduled_tasks'
  await tell(200, 'GET', '/api/v1/openapi.json')
  await tell(200, 'GET', '/api/v1/overview')
  await tell(200, 'GET', tasks)
  await tell(200, 'POST', `${tasks}/drift_detection/pause`, { body: {} })
  await tell(200, 'POST', `${tasks}/drift_detection/resume`, { body: {} })
  await tell(200, 'GET', `${tasks}/drift_detection`)
  await keys(told)
  await secrets(told)
  await log(told)
  await requests(told)
}

async function log({ tell }: Teller): Promise<void> {
  const base = '/api/v1/admin/audit_log'
  const { body } = await tell(200, 'GET', `${base}?operation=transitionDeployment`)
  await tell(200, 'GET', `${base}/${body.data[0].id}`)
  await tell(200, 'GET', `${base}/verify`)
  await tell(200, 'GET', `${base}/checkpoints`)
}

async function keys({ tell }: Teller): Promise<void> {
  const base = '/api/v1/users/ada/api_keys'
  const body = { description: 'CI', expires_at: '2027-11-15T00:00:00.000Z' }
  const { body: made } = await tell(201, 'POST', base, { body })
  const path = `${base}/${made.data.key_id}`
  await tell(200, 'GET', base)
  await tell(200, 'GET', path)
  const { body: next } = await tell(201, 'POST', `${path}/rotate`, { body: { grace_seconds: 3600 } })
  await tell('already_rotated', 'POST', `${path}/rotate`, { body: {} })
  const fresh = `${base}/${next.data.key_id}`
  await tell(204, 'DELETE', fresh, { body: { reason: 'The pipeline is gone.' } })
  await tell('key_not_active', 'POST', `${fresh}/rotate`, { body: {} })
}

async function secrets({ tell }: Teller): Promise<void> {
  const base = '/api/v1/admin/secrets'
  const body = { name: 'smtp/password', value: 'not-a-real-password', description: 'For the mail relay' }
  await tell(201, 'POST', base, { body })
  await tell('secret_exists', 'POST', base, { body })
  const next = { value: 'nor-is-this-one' }
  await tell(200, 'PUT', `${base}/smtp%2Fpassword`, { body: next })
  await tell(201, 'PUT', `${base}/webhook-signing`, { body: next })
  await tell(200, 'GET', base)
  await tell(200, 'GET', `${base}/smtp%2Fpassword`)
  await tell(204, 'DELETE', `${base}/webhook-signing`)
}

async function requests({ tell, ctx }: Teller): Promise<void> {
  const path = '/api/v1/deployments'
  const json = { 'content-type': 'application/json' }
  await tell('malformed_body', 'POST', path, { raw: '{"slug": ', headers: json })
  await tell('payload_too_large', 'POST', path, { raw: ' '.repeat(1_100_000), headers: json })
  await tell('unsupported_media_type', 'POST', path, {
    raw: 'slug=shop',
    headers: { 'content-type': 'text/plain' },
  })

  const headers = { 'idempotency-key': 'order-4711' }
  const docs = { tenant_id: 'acme', slug: 'docs' }
  await tell(201, 'POST', path, { body: docs, headers })
  await tell('idempotency_key_reused', 'POST', path, { body: { ...docs, slug: 'wiki' }, headers })
  await sql`update idempotency_keys set answer = 'sealed with a key that is gone'`.execute(ctx.db)
  await tell('idempotency_answer_lost', 'POST', path, { body: docs, headers })
  await sql`update idempotency_keys set finished_at = null, status = null, answer = null`.execute(ctx.db)
  await tell('idempotency_in_progress', 'POST', path, { body: docs, headers })
}
