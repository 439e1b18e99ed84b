// The sender of webhooks: its signature, where it will not go, and what it makes of every sort of answer.

import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { test } from 'node:test'
import { createWebhookSender, refusalOf, signatures } from '../../src/integrations/webhooks/sender.ts'
import { isPublicAddress, vettedLookup } from '../../src/kernel/addresses.ts'
import type { Owner } from '../support/lasting.ts'
import { receiver, verified } from '../support/webhook-receiver.ts'

const never = new AbortController().signal
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const now = new Date('2026-11-15T12:00:00.000Z')
const message = (url: string, secrets = [secret]) => ({
  url,
  secrets,
  id: 'msg_1',
  timestamp: now.getTime() / 1000,
  body: '{"type":"webhook.test"}',
})

function sender(t: Owner, options: Partial<Parameters<typeof createWebhookSender>[0]>) {
  const made = createWebhookSender({ allowPrivate: true, ...options })
  t.after(() => made.close())
  return made
}

test('the signature is the one that the Standard Webhooks specification gives for its example', () => {
  const example = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  }
  assert.equal(signatures([secret], example), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  const both = signatures([other, secret], example).split(' ')
  assert.deepEqual(both, [signatures([other], example), signatures([secret], example)])
})

test('private, local, special and mapped addresses are not public, and their neighbours are', () => {
  const edges: [string, string, string, string][] = [
    // before, first, last, after
    ['', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
    ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
    ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
    ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
    ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
    ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
    ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
    ['223.255.255.255', '224.0.0.0', '239.255.255.255', ''],
    ['', '240.0.0.0', '255.255.255.255', ''],
    ['', '2001::', '2001:1ff:ffff::1', '2001:200::'],
    ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff::1', '2001:db9::'],
    ['2001:ffff::', '2002::', '2002:7f00:1::', '2003::'],
    ['3ffe::', '3fff::', '3fff:fff::1', '3fff:1000::'],
    ['3fff:ffff::', '4000::', 'ffff::', ''],
  ]
  for (const [before, first, last, after] of edges) {
    for (const address of [first, last]) assert.equal(isPublicAddress(address), false, address)
    for (const address of [before, after]) if (address) assert.equal(isPublicAddress(address), true, address)
  }
  for (const address of [
    '::',
    '::1',
    '1fff:ffff::',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
  ])
    assert.equal(isPublicAddress(address), false, address)
  for (const address of [
    '64:ff9b::808:808',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
    'localhost',
    '',
  ])
    assert.equal(isPublicAddress(address), false, address)
  for (const address of ['8.8.8.8', '2606:4700::1111', '2a00::1'])
    assert.equal(isPublicAddress(address), true, address)
})

test('a webhook points to an https address that is not plainly private, unless that is allowed', () => {
  const scheme = 'must be an https:// address'
  const hidden = 'must not point to a private address'
  const refusals: [string, string | null, string | null][] = [
    // the address, by default, when private ones are allowed
    ['https://hooks.example.com/in?key=1', null, null],
    ['https://8.8.8.8:8443/', null, null],
    ['https://[2606:4700::1111]/', null, null],
    ['http://hooks.example.com/', scheme, null],
    ['https://127.0.0.1/', hidden, null],
    ['https://0x7f.1/', hidden, null],
    ['https://2130706433/', hidden, null],
    ['https://[::1]/', hidden, null],
    ['https://[::ffff:10.0.0.1]/', hidden, null],
    ['https://169.254.169.254/latest/meta-data', hidden, 'must not point to a link-local address'],
    ['https://[fe80::1]/', hidden, 'must not point to a link-local address'],
    ['ftp://hooks.example.com/', scheme, scheme],
    ['file:///etc/passwd', scheme, scheme],
    ['hooks.example.com', scheme, scheme],
    ['', scheme, scheme],
    ['https://', scheme, scheme],
    [
      'https://ada@hooks.example.com/',
      'must hold no user name and no password',
      'must hold no user name and no password',
    ],
    [
      'https://:word@hooks.example.com/',
      'must hold no user name and no password',
      'must hold no user name and no password',
    ],
    ['https://hooks.example.com/#top', 'must have no fragment', 'must have no fragment'],
  ]
  for (const [address, usually, allowed] of refusals) {
    assert.equal(refusalOf(address, false), usually, address)
    assert.equal(refusalOf(address, true), allowed, address)
  }
})

test('a name is refused when any of its addresses is private, and otherwise gives what was looked at', async () => {
  const look = (addresses: LookupAddress[], all: boolean, error: NodeJS.ErrnoException | null = null) =>
    new Promise<unknown[]>(resolve => {
      const lookup = vettedLookup(isPublicAddress, (_name, options, done) => {
        assert.deepEqual(options, { all: true, family: 0 })
        done(error, addresses)
      })
      lookup('hooks.example.com', { all, family: 0 }, (failed, address, family) =>
        resolve(failed ? [(failed as NodeJS.ErrnoException).code] : [address, family]),
      )
    })
  const good = [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]
  assert.deepEqual(await look(good, true), [good, undefined])
  assert.deepEqual(await look(good, false), ['8.8.8.8', 4])
  assert.deepEqual(await look([...good, { address: '10.0.0.1', family: 4 }], true), ['REFUSED_ADDRESS'])
  assert.deepEqual(await look([{ address: '::1', family: 6 }], false), ['REFUSED_ADDRESS'])
  assert.deepEqual(await look([], true), ['REFUSED_ADDRESS'])
  assert.deepEqual(await look([], true, Object.assign(new Error(), { code: 'ENOTFOUND' })), ['ENOTFOUND'])
})

test('a message arrives whole, with an id, a time and a signature for each secret', async t => {
  const it = await receiver(t)
  const outcome = await sender(t, {}).send(message(it.url, [other, secret]), never)
  assert.deepEqual(
    { ...outcome, duration_ms: 0 },
    {
      status_code: 200,
      error: null,
      response_body: 'so be it',
      duration_ms: 0,
    },
  )
  assert.ok(outcome.duration_ms >= 0 && Number.isInteger(outcome.duration_ms))
  const [received] = it.received
  assert.equal(received!.text, '{"type":"webhook.test"}')
  assert.equal(received!.headers['content-type'], 'application/json')
  assert.equal(received!.headers['user-agent'], 'cloudops-webhooks')
  assert.equal(received!.headers['webhook-id'], 'msg_1')
  assert.ok(verified(received!, secret, now) && verified(received!, other, now))
  assert.ok(!verified(received!, `whsec_${Buffer.alloc(32).toString('base64')}`, now))
  assert.ok(!verified({ ...received!, text: '{}' }, secret, now))
})

test('redirects are not followed, long answers are cut, and a body that breaks off changes nothing', async t => {
  const it = await receiver(t)
  const to = sender(t, {})
  it.answer = response => response.writeHead(307, { location: it.url }).end('there')
  assert.deepEqual(pick(await to.send(message(it.url), never)), [307, null, 'there'])
  assert.equal(it.received.length, 1)
  it.answer = response => response.writeHead(200).end(`\0${'é'.repeat(100_000)}`)
  const [status, , body] = pick(await to.send(message(it.url), never))
  assert.deepEqual([status, Buffer.byteLength(body!.replaceAll('\u{fffd}', ''))], [200, 1022])
  it.answer = response =>
    void response
      .writeHead(202, { 'content-length': '99' })
      .write('half', () => setImmediate(() => response.socket?.destroy()))
  assert.deepEqual(pick(await to.send(message(it.url), never)), [202, null, 'half'])
})

test('no answer is an outcome with a reason that shows nothing of the message', async t => {
  const it = await receiver(t)
  it.answer = () => {}
  const quick = sender(t, { timeoutMs: 50 })
  assert.deepEqual(pick(await quick.send(message(it.url), never)), [null, 'no answer within 50 ms', null])
  it.answer = response => void response.socket?.destroy()
  assert.deepEqual(pick(await sender(t, {}).send(message(it.url), never)), [
    null,
    'no answer (UND_ERR_SOCKET)',
    null,
  ])
  assert.deepEqual(pick(await sender(t, {}).send(message('http://127.0.0.1:1/'), never)), [
    null,
    'no answer (ECONNREFUSED)',
    null,
  ])
  const stopping = AbortSignal.abort(new Error('stopping'))
  await assert.rejects(sender(t, {}).send(message(it.url), stopping), /stopping/)
})

test('unless it is allowed, nothing reaches a private address, be it written or resolved', async t => {
  const it = await receiver(t)
  const careful = sender(t, {
    allowPrivate: false,
    resolve: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  })
  const port = new URL(it.url).port
  assert.deepEqual(pick(await careful.send(message(`https://hooks.example.com:${port}/`), never)), [
    null,
    'the name resolves to a private address',
    null,
  ])
  assert.deepEqual(pick(await careful.send(message(`https://127.0.0.1:${port}/`), never)), [
    null,
    'the address must not point to a private address',
    null,
  ])
  assert.equal(careful.refusal(it.url), 'must be an https:// address')
  assert.equal(it.received.length, 0)
})

const pick = ({
  status_code,
  error,
  response_body,
}: Awaited<ReturnType<ReturnType<typeof sender>['send']>>) => [status_code, error, response_body] as const
