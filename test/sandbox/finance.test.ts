// The simulated finance service takes an invoice from who may push it, keeps it once, and fails on demand.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import { manualClock } from '../../sandbox/clock.ts'
import { createSandboxFinance, IMPORT_PATH } from '../../sandbox/finance/server.ts'
import { temporaryFolder } from '../support/process.ts'

const SECRET = 'finance-secret-of-the-sandbox-tests'

const invoice = {
  tenant_id: 'platform',
  source: 'digitalocean',
  external_id: '461f073b-7d5e-5141-aba0-9cbfd1ed5921',
  period_start: '2026-08-01',
  period_end: '2026-08-31',
  currency: 'USD',
  amount_net_minor: 1000,
  amount_tax_minor: 62,
  amount_gross_minor: 1062,
  lines: [
    { description: 'acme-prod-web-01 (s-2vcpu-4gb)', amount_minor: 1000 },
    { description: 'STATE SALES TAX (6.25%)', amount_minor: 62 },
  ],
}

async function setup(t: TestContext, secret: string | string[] = SECRET, file?: string) {
  const clock = manualClock()
  const finance = createSandboxFinance({ secret, clock, ...(file !== undefined && { file }) })
  const { url } = await finance.listen()
  t.after(() => finance.close())

  const bearer = (options: { claims?: object; life?: number; key?: string; algorithm?: string } = {}) => {
    const now = Math.floor(clock.now().getTime() / 1000)
    const jwt = new SignJWT({ tenant_id: 'platform', role: 'admin', ...options.claims })
      .setProtectedHeader({ alg: options.algorithm ?? 'HS256' })
      .setIssuedAt(now)
    if (options.life !== 0) jwt.setExpirationTime(now + (options.life ?? 60))
    return jwt.sign(
      new TextEncoder().encode((options.key ?? SECRET).padEnd(64, options.algorithm ? '_' : '')),
    )
  }
  const push = async (body: unknown = invoice, token?: string) => {
    const response = await fetch(url + IMPORT_PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token ?? (await bearer())}` },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  return { finance, clock, url, bearer, push }
}

test('after a restart it knows what was pushed before: the same again is an update', async t => {
  const file = join(temporaryFolder(t), 'finance.json')
  const first = await setup(t, SECRET, file)
  const { id } = dataOf((await first.push()).text)
  await first.finance.close()
  const second = await setup(t, SECRET, file)
  assert.deepEqual(second.finance.pushes, first.finance.pushes)
  assert.deepEqual(dataOf((await second.push()).text), { id, action: 'updated' })
})

const dataOf = (text: string) => (JSON.parse(text) as { data: { id: string; action: string } }).data

test('the first push creates, the same again updates the same row', async t => {
  const { finance, push } = await setup(t)
  const first = await push()
  assert.equal(first.status, 201)
  assert.equal(dataOf(first.text).action, 'created')
  const again = await push({ ...invoice, amount_net_minor: 2000, amount_gross_minor: 2062 })
  assert.equal(again.status, 200)
  assert.deepEqual(dataOf(again.text), { id: dataOf(first.text).id, action: 'updated' })
  assert.equal(finance.invoices.size, 1)
  assert.equal([...finance.invoices.values()][0]?.amount_net_minor, 2000)
  await push({ ...invoice, external_id: 'another' })
  assert.equal(finance.invoices.size, 2)
})

test('what was pushed can be inspected', async t => {
  const { url, push } = await setup(t)
  await push()
  await push({})
  const seen = (await (await fetch(`${url}/__sandbox/invoices`)).json()) as {
    invoices: { pushes: number; lines: unknown[] }[]
    pushes: { action: string | null; status: number }[]
  }
  assert.equal(seen.invoices.length, 1)
  assert.equal(seen.invoices[0]?.lines.length, 2)
  assert.deepEqual(
    seen.pushes.map(({ action, status }) => [action, status]),
    [
      ['created', 201],
      [null, 422],
    ],
  )
})

test('a token that proves nothing is 401', async t => {
  const { finance, clock, bearer, push } = await setup(t)
  const stale = await bearer({ life: 60 })
  for (const [why, token] of [
    ['no token', ''],
    ['no JWT', 'rubbish'],
    ['another secret', await bearer({ key: 'another-secret-of-the-sandbox-tests' })],
    ['another algorithm', await bearer({ algorithm: 'HS512' })],
    ['no expiry', await bearer({ life: 0 })],
    ['lives too long', await bearer({ life: 121 })],
    ['already expired', await bearer({ life: -1 })],
  ] as const) {
    assert.equal((await push(invoice, token)).status, 401, why)
  }
  assert.equal((await push(invoice, await bearer({ life: 120 }))).status, 201)
  clock.advance(61_000)
  assert.equal((await push(invoice, stale)).status, 401, 'expired by the clock')
  assert.equal(finance.invoices.size, 1)
})

test('a token that proves too little is 403', async t => {
  const { finance, bearer, push } = await setup(t)
  for (const claims of [
    { role: 'viewer' },
    { role: undefined },
    { tenant_id: undefined },
    { tenant_id: '' },
    { tenant_id: 'acme' },
  ]) {
    assert.equal((await push(invoice, await bearer({ claims }))).status, 403, JSON.stringify(claims))
  }
  assert.equal(finance.invoices.size, 0)
})

test('during a rotation either secret is taken', async t => {
  const { bearer, push } = await setup(t, ['the-new-secret-of-the-sandbox-tests', SECRET])
  assert.equal(
    (await push(invoice, await bearer({ key: 'the-new-secret-of-the-sandbox-tests' }))).status,
    201,
  )
  assert.equal((await push(invoice, await bearer())).status, 200)
})

test('an invoice that is not whole is 422, naming each field', async t => {
  const { finance, push } = await setup(t)
  for (const [field, wrong] of [
    ['tenant_id', { tenant_id: 7 }],
    ['source', { source: '' }],
    ['external_id', { external_id: undefined }],
    ['period_start', { period_start: '2026-02-30' }],
    ['period_end', { period_end: '2026-07-31' }],
    ['currency', { currency: 'usd' }],
    ['amount_net_minor', { amount_net_minor: 10.5 }],
    ['amount_gross_minor', { amount_gross_minor: 1 }],
    ['lines', { lines: 'none' }],
    ['lines/0/amount_minor', { lines: [{ description: 'x', amount_minor: '1' }] }],
    ['lines/0/description', { lines: [null] }],
  ] as const) {
    const { status, text } = await push({ ...invoice, ...wrong })
    assert.equal(status, 422, field)
    assert.ok(text.includes(`"field":"${field}"`), text)
  }
  assert.equal((await push([])).status, 422)
  assert.equal(finance.invoices.size, 0)
})

test('an answer lost or spoiled after the commit leads to a second push, never to a second invoice', async t => {
  const { finance, push } = await setup(t)
  finance.faults.add({ fault: 'drop_after_commit' })
  finance.faults.add({ fault: 'error_after_commit' })
  finance.faults.add({ fault: 'malformed_answer' })
  await assert.rejects(push(), /fetch failed/)
  assert.equal((await push()).status, 500)
  const malformed = await push()
  assert.equal(malformed.status, 200)
  assert.throws(() => JSON.parse(malformed.text), SyntaxError)
  assert.equal(dataOf((await push()).text).action, 'updated')
  assert.equal(finance.invoices.size, 1)
  assert.equal([...finance.invoices.values()][0]?.pushes, 4)
})

test('a refusal on demand keeps nothing', async t => {
  const { finance, push } = await setup(t)
  finance.faults.add({ fault: 'unauthorized' })
  finance.faults.add({ fault: 'conflict' })
  finance.faults.add({ fault: 'server_error', status: 503 })
  assert.deepEqual([(await push()).status, (await push()).status, (await push()).status], [401, 409, 503])
  assert.equal(finance.invoices.size, 0)
})

test('a stalled push is never answered while others are', async t => {
  const { finance, url, push } = await setup(t)
  finance.faults.add({ fault: 'stall' })
  const giveUp = new AbortController()
  const stalled = fetch(url + IMPORT_PATH, { method: 'POST', signal: giveUp.signal })
  while (finance.pushes.length === 0) await fetch(`${url}/__sandbox/invoices`)
  assert.equal((await push()).status, 201)
  assert.equal(finance.pushes[0]?.status, 0)
  giveUp.abort()
  await assert.rejects(stalled, { name: 'AbortError' })
})

test('faults are planned, listed and cleared over HTTP', async t => {
  const { url, push } = await setup(t)
  const plan = (body: object) =>
    fetch(`${url}/__sandbox/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  assert.equal((await plan({ fault: 'conflict', times: 'always' })).status, 201)
  assert.equal((await plan({ fault: 'plague' })).status, 422)
  assert.equal((await push()).status, 409)
  const { faults } = (await (await fetch(`${url}/__sandbox/faults`)).json()) as { faults: { met: number }[] }
  assert.equal(faults[0]?.met, 1)
  assert.equal((await fetch(`${url}/__sandbox/faults`, { method: 'DELETE' })).status, 204)
  assert.equal((await push()).status, 201)
})
