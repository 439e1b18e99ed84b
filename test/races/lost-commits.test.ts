// Commits whose answer is lost: the connection is cut after the server has committed. On PostgreSQL alone: the embedded
// engine has no connection that could break.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { needsPostgres } from '../support/engine.ts'
import { deployment, plan } from '../support/factories.ts'
import { type Answer, type Bundle, setup } from '../support/setup.ts'

const OF_EACH = 8
const SHARE_LOST = 0.3

interface Request {
  path: string
  body: unknown
}

interface Kind {
  /** A request, and what it needs, made while nothing is lost. */
  prepare: (bundle: Bundle, n: number) => Request | Promise<Request>
  /** Its effects. */
  effects: string
}

const droplet = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3' }

const KINDS: Record<string, Kind> = {
  createApiKey: {
    prepare: (_, n) => ({ path: '/api/v1/users/ada/api_keys', body: { description: `key ${n}` } }),
    effects: "api_keys where user_id = 'ada'",
  },
  rotateApiKey: {
    prepare: async ({ call }) => {
      const base = '/api/v1/users/bob/api_keys'
      const old = await call('POST', base, { body: { tenant_id: 'acme' } })
      return { path: `${base}/${old.body.data.key_id}/rotate`, body: {} }
    },
    effects: 'api_keys where replaces is not null',
  },
  createPlanVersion: {
    prepare: () => ({
      path: '/api/v1/catalog/plans/pro/versions',
      body: { base_price_cents: 100, currency: 'USD' },
    }),
    effects: "plan_versions where status = 'draft'",
  },
  createWebhook: {
    prepare: (_, n) => ({
      path: '/api/v1/admin/webhooks',
      body: { url: `https://example.com/${n}`, events: ['saga.completed'] },
    }),
    effects: 'webhooks',
  },
  createDeployment: {
    prepare: (_, n) => ({ path: '/api/v1/deployments', body: { tenant_id: 'acme', slug: `made-${n}` } }),
    effects: "cloud_deployments where slug like 'made-%'",
  },
  transitionDeployment: {
    prepare: async bundle => {
      const { id } = await deployment(bundle)
      return { path: `/api/v1/deployments/${id}/transition`, body: { state: 'suspended' } }
    },
    effects: 'cloud_deployment_events',
  },
  subscribeDeployment: {
    prepare: async bundle => {
      const { id } = await deployment(bundle)
      return { path: `/api/v1/deployments/${id}/subscribe`, body: { plan_code: 'pro' } }
    },
    effects: 'subscriptions',
  },
  provisionDeployment: {
    prepare: async (bundle, n) => {
      const { id } = await deployment(bundle)
      return { path: `/api/v1/deployments/${id}/provision`, body: { ...droplet, name: `web-${n}` } }
    },
    effects: 'saga_runs',
  },
  createSecret: {
    prepare: (_, n) => ({ path: '/api/v1/admin/secrets', body: { name: `s/${n}`, value: `value ${n}` } }),
    effects: 'secrets',
  },
  createInvitation: {
    prepare: (_, n) => ({
      path: '/api/v1/admin/invitations',
      body: { email: `ada${n}@example.com`, tenant_id: 'acme' },
    }),
    effects: 'invitations',
  },
}

async function proxied(t: TestContext): Promise<Bundle & { proxy: DatabaseProxy }> {
  let proxy: DatabaseProxy | undefined
  const bundle = await setup(t, {
    provider: {},
    env: { RATE_LIMIT_PER_MINUTE: '0' },
    through: async url => {
      proxy = await startDatabaseProxy({ upstream: url })
      return proxy.url(url)
    },
  })
  t.after(() => proxy!.close())
  return { ...bundle, proxy: proxy! }
}

async function countOf({ ctx }: Bundle, effects: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from ${sql.raw(effects)}`.execute(
    ctx.db,
  )
  return rows[0]!.n
}

test(
  'with three of ten commits’ answers lost, whatever is asked for under a key is done once and answered alike',
  needsPostgres,
  async t => {
    const bundle = await proxied(t)
    const { call, proxy } = bundle
    await plan(bundle, { code: 'pro' })
    const requests: (Request & { key: string })[] = []
    for (const [kind, { prepare }] of Object.entries(KINDS)) {
      for (let n = 0; n < OF_EACH; n++) requests.push({ key: `${kind} ${n}`, ...(await prepare(bundle, n)) })
    }
    const send = ({ key, path, body }: (typeof requests)[number]) =>
      call('POST', path, { body, headers: { 'idempotency-key': key } })
    const untilAnswered = async (request: (typeof requests)[number]): Promise<Answer> => {
      for (let tries = 1; ; tries++) {
        const answer = await send(request)
        if (answer.status !== 503 || tries === 20) return answer
      }
    }

    proxy.loseCommits(SHARE_LOST)
    const answers = await Promise.all(requests.map(untilAnswered))
    proxy.loseCommits(0)

    assert.ok(proxy.counters.lostCommits > requests.length / 10, `${proxy.counters.lostCommits} were lost`)
    for (const [i, { status, text }] of answers.entries())
      assert.ok(status < 300, `${requests[i]!.key}: ${status} ${text}`)
    for (const [kind, { effects }] of Object.entries(KINDS))
      assert.equal(await countOf(bundle, effects), OF_EACH, kind)
    const again = await Promise.all(requests.map(send))
    assert.deepEqual(
      again.map(({ status, text }) => [status, text]),
      answers.map(({ status, text }) => [status, text]),
    )
    assert.ok(again.every(({ headers }) => headers.get('idempotency-replayed') === 'true'))
  },
)

test(
  'a commit whose answer is lost is looked up by the service: its caller hears the answer at once',
  needsPostgres,
  async t => {
    const bundle = await proxied(t)
    const { call, proxy } = bundle
    proxy.loseCommits(1)
    const made = await call('POST', '/api/v1/users/ada/api_keys', {
      body: {},
      headers: { 'idempotency-key': 'k' },
    })
    assert.deepEqual([made.status, made.headers.get('idempotency-replayed')], [201, 'true'])
    assert.equal(proxy.counters.lostCommits, 1)
    assert.equal(await countOf(bundle, 'api_keys'), 1)
  },
)
