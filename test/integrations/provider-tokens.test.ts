// A token for each queue: who asks with which, whose pace it is, and what happens when it changes.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createProviders,
  type Limits,
  ProviderBusyError,
  ProviderError,
} from '../../src/integrations/digitalocean/index.ts'
import { fixture, numbered, pageOf, type Script, serve, testClock } from './scripted-provider.ts'

const HOUR = 3_600_000
const balance = fixture('balance.get')

async function setup(
  t: TestContext,
  { token, limits, script }: { token?: string; limits?: Partial<Limits>; script?: Script } = {},
) {
  /** Which token asked for what. */
  const asked: string[] = []
  const baseUrl = await serve(t, (request, count) => {
    asked.push(`${request.headers.authorization?.replace('Bearer ', '')} ${request.path}`)
    return script?.(request, count) ?? { body: balance }
  })
  const clock = testClock()
  const absent = (queue: string) => `nothing for ${queue}`
  const providers = createProviders({ baseUrl, token, absent, timer: clock, limits, random: () => 1 })
  t.after(() => providers.close())
  return { providers, asked, clock }
}

test('a queue asks with its own token, the others with the common one, and the next request with a new one', async t => {
  const { providers, asked } = await setup(t, { token: 'common' })
  const both = async () => {
    await providers.for('cloud_billing').balance()
    await providers.for('metering').balance()
    return asked.splice(0).map(line => line.split(' ')[0])
  }
  assert.equal(providers.for('metering'), providers.for('metering'))
  assert.deepEqual(await both(), ['common', 'common'])
  providers.use(new Map([['cloud_billing', 'own']]))
  assert.deepEqual(await both(), ['own', 'common'])
  providers.use(new Map([['cloud_billing', 'newer'] as const, ['metering', 'own'] as const]))
  assert.deepEqual(await both(), ['newer', 'own'])
  providers.use(new Map())
  assert.deepEqual(await both(), ['common', 'common'])
})

test('a listing and a call that is tried again go on with the new token', async t => {
  const limits = { perPage: 2, backoffBaseMs: 1 }
  const { providers, asked } = await setup(t, {
    token: 'first',
    limits,
    script({ path, query }, count) {
      if (path === '/v2/droplets') return pageOf('droplets', numbered(4), query)
      if (path !== '/v2/customers/my/balance') return pageOf('droplets', [], query)
      providers.use(new Map([['cloud_sync_full', `after request ${count}`.replaceAll(' ', '-')]]))
      return asked.length === 1 ? { status: 503, body: {} } : { body: balance }
    },
  })
  const provider = providers.for('cloud_sync_full')
  for await (const _page of provider.pages('droplet')) providers.use(new Map([['cloud_sync_full', 'second']]))
  assert.deepEqual(asked.splice(0).slice(0, 2), ['first /v2/droplets', 'second /v2/droplets'])
  await provider.balance()
  assert.equal(asked[0], 'second /v2/customers/my/balance')
  assert.match(asked[1]!, /^after-request-\d+ .v2.customers.my.balance$/)
  assert.equal(asked.length, 2)
})

test('each token has a pace of its own, queues of one token share it, and it lasts as long as the token', async t => {
  const limits = { rates: [{ requests: 1, windowMs: HOUR }] }
  const { providers, asked, clock } = await setup(t, { token: 'common', limits })
  const ask = (queue: 'cloud_sync_full' | 'cloud_sync_slow' | 'cloud_billing' | 'metering') =>
    providers.for(queue).balance()
  const tokens = new Map([['cloud_sync_full', 'sweeps'] as const, ['cloud_sync_slow', 'sweeps'] as const])
  providers.use(tokens)
  await ask('cloud_sync_full')
  await assert.rejects(ask('cloud_sync_slow'), ProviderBusyError)
  await ask('cloud_billing')
  await assert.rejects(ask('metering'), ProviderBusyError)
  providers.use(new Map([...tokens, ['cloud_billing', 'bills']]))
  await assert.rejects(ask('cloud_sync_full'), ProviderBusyError, 'what it has asked for still counts')
  await assert.rejects(ask('metering'), ProviderBusyError, 'and so does the common one’s')
  await ask('cloud_billing')
  clock.pass(HOUR)
  await ask('cloud_sync_slow')
  assert.deepEqual(
    asked.map(line => line.split(' ')[0]),
    ['sweeps', 'common', 'bills', 'sweeps'],
  )
})

test('without any token a queue has no provider, says so and sends nothing; one that is given later is used', async t => {
  const headers = {
    'ratelimit-limit': '5000',
    'ratelimit-remaining': '4711',
    'ratelimit-reset': '9999999999',
  }
  const { providers, asked } = await setup(t, {
    limits: { attempts: 1 },
    script: () => ({ headers, body: balance }),
  })
  const [billing, metering] = [providers.for('cloud_billing'), providers.for('metering')]
  assert.deepEqual([billing.absent, billing.allowance()], ['nothing for cloud_billing', null])
  const nothing = (error: ProviderError) =>
    error instanceof ProviderError &&
    error.message === 'nothing for cloud_billing' &&
    error.kind === 'network' &&
    !error.mayHaveHappened
  await assert.rejects(billing.balance(), nothing)
  assert.deepEqual(asked, [])

  providers.use(new Map([['cloud_billing', 'own']]))
  assert.deepEqual([billing.absent, billing.allowance()], [undefined, null])
  assert.deepEqual([metering.absent, metering.allowance()], ['nothing for metering', null])
  await billing.balance()
  assert.equal(billing.allowance()?.remaining, 4_711)
  providers.use(new Map())
  await assert.rejects(billing.balance(), nothing)
  assert.deepEqual(asked, ['own /v2/customers/my/balance'])
})
