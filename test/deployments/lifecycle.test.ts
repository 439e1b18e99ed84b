import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allowedTransitions,
  describedLifecycle,
  FIRST_STATE,
  isBillingAction,
  isOver,
  mayMove,
  STATES,
  SUBSCRIPTION_AFTER,
  subscriptionAfter,
} from '../../src/features/deployments/lifecycle.ts'
import { monthOf } from '../../src/kernel/time.ts'

/** The contract's map, written out once more: every pair of states is compared with it. */
const contract: Record<string, string[]> = {
  trial: ['active', 'past_due', 'suspended', 'cancelled'],
  active: ['past_due', 'paused', 'suspended', 'cancelled'],
  past_due: ['active', 'paused', 'suspended', 'cancelled'],
  paused: ['active', 'suspended', 'cancelled'],
  suspended: ['active', 'cancelled'],
  cancelled: ['archived'],
  archived: [],
}

/** Of them, what a tenant may do with its own. */
const tenants: Record<string, string[]> = {
  trial: ['active', 'cancelled'],
  active: ['paused', 'cancelled'],
  past_due: ['cancelled'],
  paused: ['active', 'cancelled'],
  suspended: ['cancelled'],
  cancelled: ['archived'],
  archived: [],
}
const moves = { operator: contract, tenant: tenants, nobody: {} as Record<string, string[]> }
const MOVERS = ['operator', 'tenant', 'nobody'] as const

test('of all pairs of states exactly those of the contract are moves: an operator’s, and fewer a tenant’s', () => {
  assert.deepEqual([...STATES].sort(), Object.keys(contract).sort())
  for (const mover of MOVERS)
    for (const from of STATES) {
      const expected = moves[mover][from] ?? []
      assert.deepEqual(allowedTransitions(from, mover, false), expected, `${mover} from ${from}`)
      assert.deepEqual(
        allowedTransitions(from, mover, true),
        expected.filter(to => to !== 'past_due' && to !== 'suspended'),
      )
      for (const to of STATES)
        assert.equal(mayMove(from, to, mover), expected.includes(to), `${mover}: ${from} → ${to}`)
    }
})

test('a new deployment is active, and past_due and suspended alone follow from bills', () => {
  assert.equal(FIRST_STATE, 'active')
  assert.deepEqual(STATES.filter(isBillingAction), ['past_due', 'suspended'])
})

test('a subscription follows its deployment into paused, active and cancelled, and nowhere else', () => {
  assert.deepEqual(SUBSCRIPTION_AFTER, {
    trial: null,
    active: 'active',
    past_due: null,
    paused: 'paused',
    suspended: 'paused',
    cancelled: 'cancelled',
    archived: null,
  })
})

test('a period is the calendar month in UTC, first and last day', () => {
  const months = {
    '2026-11-15T12:00:00Z': ['2026-11-01', '2026-11-30'],
    '2026-12-31T23:59:59.999Z': ['2026-12-01', '2026-12-31'],
    '2027-01-01T00:00:00Z': ['2027-01-01', '2027-01-31'],
    '2028-02-10T00:00:00Z': ['2028-02-01', '2028-02-29'],
    '2027-02-28T23:00:00-05:00': ['2027-03-01', '2027-03-31'],
  }
  for (const [at, [start, end]] of Object.entries(months)) {
    const { first_day, last_day } = monthOf(new Date(at))
    assert.deepEqual([first_day, last_day], [start, end], at)
  }
})

test('a deployment is over once it is cancelled or archived, and its subscription is what the map says', () => {
  assert.deepEqual(STATES.filter(isOver), ['cancelled', 'archived'])
  for (const state of STATES) assert.equal(subscriptionAfter(state), SUBSCRIPTION_AFTER[state], state)
})

test('the map is told with every move of the contract, whose it is and what it means', () => {
  const { first_state, states } = describedLifecycle()
  assert.equal(first_state, 'active')
  assert.deepEqual(
    Object.fromEntries(states.map(({ state, transitions }) => [state, transitions.map(({ to }) => to)])),
    contract,
  )
  for (const { state, subscription_status, transitions } of states) {
    assert.equal(subscription_status, SUBSCRIPTION_AFTER[state])
    for (const { to, operator_only, billing_action } of transitions)
      assert.deepEqual(
        [operator_only, billing_action],
        [!tenants[state]!.includes(to), to === 'past_due' || to === 'suspended'],
        `${state} → ${to}`,
      )
  }
})
