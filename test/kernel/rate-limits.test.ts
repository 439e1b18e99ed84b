// Counting by key, what one address is, and taking turns: the rules behind 429.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxies } from '../../src/kernel/config-checks.ts'
import { callerKey, fairShare, groupOf, networkOf, rateLimiter } from '../../src/kernel/http/rate-limits.ts'

function clock() {
  let time = 0
  return {
    now: () => new Date(time),
    advance(ms: number) {
      time += ms
    },
  }
}

test('a key has its limit within a minute, and a new one after it', () => {
  const time = clock()
  const limiter = rateLimiter(2, time)
  assert.deepEqual(limiter.peek('a'), { left: 2, seconds: 60 })
  assert.deepEqual(limiter.count('a'), { left: 1, seconds: 60 })
  time.advance(59_999)
  assert.deepEqual(limiter.count('a'), { left: 0, seconds: 1 })
  assert.deepEqual(limiter.count('a'), { left: -1, seconds: 1 })
  assert.deepEqual(limiter.peek('a'), { left: -1, seconds: 1 }, 'peeking counts nothing')
  assert.deepEqual(limiter.count('b'), { left: 1, seconds: 60 }, 'another key is another count')
  time.advance(1)
  assert.deepEqual(limiter.count('a'), { left: 1, seconds: 60 })
})

test('of more keys than are remembered the one counted longest ago is forgotten', () => {
  const limiter = rateLimiter(10, clock(), 2)
  limiter.count('a')
  limiter.count('b')
  limiter.count('a')
  limiter.count('c')
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => limiter.peek(key).left),
    [8, 10, 9],
  )
})

test('an IPv4 address is itself however it is written, an IPv6 address its network of 64 bits', () => {
  const cases: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ]
  for (const [address, network] of cases) assert.equal(networkOf(address), network, address)
})

test('no tenant and user can be taken for two others, whatever their names hold', () => {
  const named = [
    { tenantId: 'a\nb', sub: 'c' },
    { tenantId: 'a', sub: 'b\nc' },
    { tenantId: 'a","b', sub: 'c' },
    { tenantId: 'a', sub: 'b","c' },
    { tenantId: null, sub: 'c' },
    { tenantId: 'null', sub: 'c' },
  ]
  assert.equal(new Set(named.map(callerKey)).size, named.length)
  const member = { platformAdmin: false, operator: false }
  const admin = { platformAdmin: true, operator: false, tenantId: 'a' }
  const groups = [admin, { ...member, tenantId: 'a' }, { ...member, tenantId: 'null' }]
  assert.equal(new Set(groups.map(groupOf)).size, 3)
  for (const other of [
    { ...admin, tenantId: null },
    { ...member, operator: true, tenantId: 'platform' },
  ])
    assert.equal(groupOf(other), groupOf(admin))
})

test('a group runs as many at once as it may, the next in turn, and keeps no other group waiting', async () => {
  const share = fairShare({ atOnce: 2, mostWaiting: 2, waitMs: 60_000 })
  const first = await share.enter('a')
  const second = await share.enter('a')
  const order: string[] = []
  const enter = async (name: string) => {
    const leave = await share.enter('a')
    order.push(name)
    return leave
  }
  const third = enter('third')
  const fourth = enter('fourth')
  await assert.rejects(async () => share.enter('a'), {
    kind: 'rate_limited',
    message: /^Too many requests at once/,
  })
  const other = await share.enter('b')
  assert.deepEqual(order, [])
  first()
  first()
  const leaveThird = await third
  assert.deepEqual(order, ['third'], 'leaving twice frees one place')
  leaveThird()
  const leaveFourth = await fourth
  for (const leave of [second, leaveFourth, other]) leave()
  const again = await Promise.all([share.enter('a'), share.enter('a')])
  for (const leave of again) leave()
})

test('who has waited too long is sent away, and takes nobody’s turn', async () => {
  const share = fairShare({ atOnce: 1, mostWaiting: 2, waitMs: 1 })
  const first = await share.enter('a')
  await assert.rejects(async () => share.enter('a'), { kind: 'rate_limited' })
  first()
  const next = await share.enter('a')
  next()
})

test('proxies are counted or named, and anything else is refused', () => {
  assert.equal(proxies('false'), false)
  assert.equal(proxies('2'), 2)
  assert.deepEqual(proxies('10.0.0.7, 10.0.0.0/8,fd00::/8,loopback'), [
    '10.0.0.7',
    '10.0.0.0/8',
    'fd00::/8',
    'loopback',
  ])
  for (const bad of [
    'true',
    '0',
    '100',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0',
    'proxy.example',
    '10.0.0.1,',
    '::/x',
  ])
    assert.throws(() => proxies(bad), /is not how many proxies/, bad)
})
