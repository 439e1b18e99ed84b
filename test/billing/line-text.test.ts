// What a line of an invoice says, to the last digit: amounts, times, kinds and names at their limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf, kindOf, nameOf } from '../../src/features/billing/cost-line.ts'
import { contentOf, readLineTime } from '../../src/features/billing/csv-line.ts'
import { readAmount } from '../../src/features/billing/written-amount.ts'
import { monthOf } from '../../src/kernel/time.ts'
import { csv, HEADER, linesOf, row } from '../support/csv.ts'

test('an amount has at most 15 digits before the point and 18 behind it, and fits a safe integer', () => {
  const [most, fraction] = ['9'.repeat(15), '1'.repeat(18)]
  assert.deepEqual(readAmount(most, 'JPY'), { amount: most, minor: 999_999_999_999_999 })
  assert.equal(readAmount(`9${most}`, 'JPY'), undefined)
  assert.equal(readAmount('1000000000000000', 'JPY'), undefined)
  assert.deepEqual(readAmount(`0.${fraction}`, 'USD'), { amount: `0.${fraction}`, minor: 11 })
  assert.equal(readAmount(`0.${fraction}1`, 'USD'), undefined)
  assert.equal(readAmount('99999999999999.00', 'KWD'), undefined)
  assert.deepEqual(readAmount('5.', 'USD'), { amount: '5', minor: 500 })
  assert.deepEqual(readAmount('0,000,012', 'USD'), { amount: '12', minor: 1200 })
})

test('the zones that have a name are so many hours from UTC', () => {
  const zones = { UT: 0, EDT: 4, EST: 5, CDT: 5, CST: 6, MDT: 6, MST: 7, PDT: 7, PST: 8 }
  for (const [zone, hours] of Object.entries(zones))
    assert.equal(readLineTime(`2026-10-01 00:00:00 ${zone}`), `2026-10-01T0${hours}:00:00.000Z`, zone)
})

test('the limits of a time: hours, offsets, fractions and years', () => {
  const times: [text: string, time: string | undefined][] = [
    ['2026-10-01 23:59:59 +0000', '2026-10-01T23:59:59.000Z'],
    ['2026-10-31 24:00:00 +0000', undefined],
    ['2026-10-30 24:00:00 +0000', undefined],
    ['2026-10-01 14:00:00 +1400', '2026-10-01T00:00:00.000Z'],
    ['2026-10-01 14:59:00 +1459', '2026-10-01T00:00:00.000Z'],
    ['2026-10-01 00:00:00 +0160', undefined],
    ['2026-10-01 00:00:00.5 +0000', '2026-10-01T00:00:00.500Z'],
    ['2026-10-01 00:00:00.05 Z', '2026-10-01T00:00:00.050Z'],
    ['1900-01-01 00:00:00 Z', '1900-01-01T00:00:00.000Z'],
    ['1899-12-31 23:59:59 Z', undefined],
    ['x2026-10-01 00:00:00 Z', undefined],
    ['2026-10-01 00:00:00 Zx', undefined],
    ['2026-10-01 00:00:00 +00000', undefined],
  ]
  for (const [text, time] of times) assert.equal(readLineTime(text), time, text)
  assert.equal(
    endOf({ end_at: '2026-10-02T00:00:00.000Z', period: '2026-10-01' }),
    '2026-10-02T00:00:00.000Z',
  )
  assert.equal(monthOf('2026-10-31').first_day, '2026-10-01')
})

test('every product of a resource is known by its name, and others by a slug of at most 64 characters', () => {
  const kinds: Record<string, string> = {
    'Block Storage': 'volume',
    Snapshots: 'snapshot',
    'Droplet Snapshots': 'snapshot',
    Images: 'image',
    'Custom Images': 'image',
    'Reserved IPs': 'reserved_ip',
    Databases: 'database',
    'Managed Databases': 'database',
    Kubernetes: 'kubernetes_cluster',
    Apps: 'app',
    'Container Registry': 'registry',
    Domains: 'domain',
    'Droplet Backups': 'backup',
    'load \t balancers': 'load_balancer',
    'Größe (XL)': 'größe_xl',
    constructor: 'constructor',
    ['a'.repeat(65)]: 'a'.repeat(64),
    [`${'a'.repeat(63)} b`]: 'a'.repeat(63),
  }
  for (const [product, kind] of Object.entries(kinds)) {
    assert.equal(kindOf(product), kind, product)
    assert.equal(kindOf(product), kind, 'asked again')
  }
})

test('a name ends where its size begins, and an address is found whole, wherever it stands', () => {
  const names: [kind: string, description: string, name: string | null][] = [
    ['droplet', 'a(b)', 'a'],
    ['droplet', ' (b)', null],
    ['volume', 'v (nyc3) 1,000.50 gib', 'v'],
    ['volume', `v (nyc3) ${'1'.repeat(21)}GB`, 'v'],
    ['volume', `v (nyc3) ${'1'.repeat(22)}GB`, null],
    ['volume', 'v (nyc3) x100GB', null],
    ['volume', 'v (nyc3) 100GBs', null],
    ['volume', 'v (nyc3)100GB', 'v'],
    // Never cut in two: a part of an address is another one.
    ...[40, 54, 55, 500].map((more): [string, string, string] => [
      'reserved_ip',
      `(192.0.2.1) ${'x'.repeat(more)}`,
      '192.0.2.1',
    ]),
    ['reserved_ip', 'IPv6 2001:db8::1', '2001:db8::1'],
  ]
  for (const [kind, description, name] of names) assert.equal(nameOf(kind, description), name, description)
})

test('hours may have groups and a fraction, and what is no number of hours is refused by name', async () => {
  const hours = async (text: string) => (await linesOf(csv([row({ hours: text })]))).lines[0]?.hours
  assert.equal(await hours('1,234.5'), '1234.5')
  assert.equal(await hours('007.50'), '007.50')
  assert.equal(await hours(' '), null)
  for (const text of ['-1', '1x', 'x1', '1,2', '1.', '1234567890', '1,234,567,890', '$1,234'])
    await assert.rejects(hours(text), { message: `line 2, column hours: "${text}" is not a number of hours` })
  await assert.rejects(linesOf(csv([row({ start: 'soon' })])), {
    message: 'line 2, column start: "soon" is not a time that exists',
  })
  const timeless = await linesOf(csv([row({ start: '', end: ' ' })]))
  assert.deepEqual([timeless.lines[0]?.start_at, timeless.lines[0]?.end_at], [null, null])
})

test('what a file says beyond its known columns is kept where it says something', async () => {
  const extra = async (fields: Record<string, string>) =>
    (await linesOf(csv([row(fields)], [...HEADER, 'sku', 'note']))).lines[0]?.extra
  assert.deepEqual(await extra({ sku: 'x1', note: '' }), { sku: 'x1' })
  assert.equal(await extra({ sku: '', note: '' }), null)
  assert.equal((await linesOf(csv([row()]))).lines[0]?.extra, null)
  const spaced = csv(
    [row({ ' Group - Description ': 'pool' })],
    [...HEADER.filter(column => column !== 'group_description'), ' Group - Description '],
  )
  assert.equal((await linesOf(spaced)).lines[0]?.group_description, 'pool')
})

test('two lines have the same content exactly when they say the same', async () => {
  const content = async (fields: Record<string, string>) => {
    const [line] = (await linesOf(csv([row({ group_description: 'pool', ...fields })]))).lines
    return contentOf(line!)
  }
  assert.equal(
    await content({}),
    'Droplets\x1fpool\x1fweb-01 (s-1vcpu-1gb)\x1f744\x1f2026-10-01T00:00:00.000Z\x1f2026-10-31T23:59:59.000Z\x1f6.00\x1facme\x1fiaas\x1e',
  )
  const bare = { group_description: '', hours: '', start: '', end: '', project_name: '', category: '' }
  assert.equal(await content(bare), 'Droplets\x1f\x1fweb-01 (s-1vcpu-1gb)\x1f\x1f\x1f\x1f6.00\x1f\x1f\x1e')
})
