// The rules of findings: what the checks declare, who is shown which, and until when one may be snoozed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Check, Policy } from '../../src/features/findings/check.ts'
import { CHECKS } from '../../src/features/findings/checks/index.ts'
import { checkJson, checksFor, refusedUntil } from '../../src/features/findings/finding.ts'

const policy: Policy = { off_days: 3, snapshot_days: 90, image_days: 180, sweep_failed_hours: 4 }

test('every check has a name of its own, and names the policy that its query reads', () => {
  const names = CHECKS.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { name, title, description, query, policy: named } of CHECKS) {
    assert.match(name, /^[a-z]+(_[a-z]+)*$/)
    assert.match(title, /^[A-Z].*[^.]$/, name)
    assert.match(description, /\.$/, name)
    const read = Object.keys(policy).filter(key => query.includes(`'${key}'`))
    assert.deepEqual(read, named === undefined ? [] : [named], name)
  }
})

test('docs/findings.md has every check, says whom it is shown to, and has no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/findings.md'), 'utf8')
  const rows = page.split('\n').filter(line => line.startsWith('| `'))
  const told = rows.flatMap(row => {
    const [, names, , , , tenants] = row.split('|')
    return names!.split(', ').map(name => [name.trim().replaceAll('`', ''), tenants!.trim()].join(' '))
  })
  assert.deepEqual(
    told.sort(),
    CHECKS.map(({ name, forTenants }) => `${name} ${forTenants ? 'yes' : 'no'}`).sort(),
  )
})

const one = (name: string, part: Partial<Check> = {}): Check => ({
  ...{
    name,
    title: name,
    description: '',
    category: 'waste',
    severity: 'low',
    forTenants: false,
    cost: 'none',
  },
  ...{ query: '' },
  ...part,
})

test('operators are shown all checks, tenants those for tenants, and filters narrow them', () => {
  const checks = [
    one('a', { forTenants: true }),
    one('b', { severity: 'high' }),
    one('c', { category: 'security', forTenants: true }),
  ]
  const operator = { allTenants: true } as const
  const tenant = { allTenants: false, tenantId: 'acme' } as const
  const names = (...args: [Parameters<typeof checksFor>[0], Parameters<typeof checksFor>[1]?]) =>
    checksFor(args[0], args[1], checks).map(({ name }) => name)
  assert.deepEqual(names(operator), ['a', 'b', 'c'])
  assert.deepEqual(names(tenant), ['a', 'c'])
  assert.deepEqual(names(operator, { check: 'b' }), ['b'])
  assert.deepEqual(names(tenant, { check: 'b' }), [])
  assert.deepEqual(names(operator, { category: 'security' }), ['c'])
  assert.deepEqual(names(operator, { severity: 'high' }), ['b'])
  assert.deepEqual(names(operator, { severity: 'high', category: 'security' }), [])
})

test('a check is shown with the number of its policy and how its last run went', () => {
  const shown = {
    name: 'a',
    title: 'a',
    description: '',
    category: 'waste',
    severity: 'low',
    for_tenants: false,
  }
  assert.deepEqual(checkJson(one('a'), policy, undefined), {
    ...shown,
    ...{ policy: null, found_at: null, error: null },
  })
  const found_at = '2026-11-15T12:25:00.000Z'
  assert.deepEqual(
    checkJson(one('a', { policy: 'sweep_failed_hours' }), policy, { found_at, error: 'why' }),
    {
      ...shown,
      policy: { name: 'sweep_failed_hours', value: 4 },
      ...{ found_at, error: 'why' },
    },
  )
})

test('a snooze ends in the future, and within a year', () => {
  const now = new Date('2026-11-15T12:00:00.000Z')
  assert.equal(refusedUntil('2026-11-15T12:00:00.000Z', now), 'must be in the future')
  assert.equal(refusedUntil('2026-11-15T12:00:00.001Z', now), null)
  assert.equal(refusedUntil('2027-11-16T12:00:00.000Z', now), null)
  assert.equal(refusedUntil('2027-11-16T12:00:00.001Z', now), 'must be within a year')
})
