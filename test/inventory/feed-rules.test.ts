// Rules of the looks between the sweeps: what is looked at after which actions, what explains a change, what it may cost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explaining } from '../../src/features/inventory/explain.ts'
import { actionsOfKind, planLooks } from '../../src/features/inventory/feed-plan.ts'
import {
  lookBudget,
  lookShare,
  retryAfterPartial,
  turnAfter,
} from '../../src/features/inventory/look-budget.ts'
import { readAction } from '../../src/integrations/digitalocean/actions.ts'
import type { ProviderAction } from '../../src/integrations/digitalocean/index.ts'

const action = (fields: Partial<ProviderAction>): ProviderAction => ({
  id: 1,
  type: 'rename',
  underWay: false,
  at: '2026-11-16T08:00:00.000Z',
  region: 'nyc3',
  kind: 'droplet',
  provider_id: '7',
  ...fields,
})

test('an action is read with its resource; an address is its number, and what has no number is of its kind alone', () => {
  const raw = {
    id: 36804636,
    status: 'completed',
    type: 'assign_ip',
    started_at: '2020-11-14T16:29:21Z',
    completed_at: '2020-11-14T16:30:06Z',
    resource_id: 758604968,
    resource_type: 'floating_ip',
    region: { slug: 'nyc3' },
    region_slug: null,
  }
  const read = {
    id: 36804636,
    type: 'assign_ip',
    underWay: false,
    at: '2020-11-14T16:30:06.000Z',
    region: 'nyc3',
    kind: 'reserved_ip',
    provider_id: '45.55.100.168',
  }
  assert.deepEqual(readAction(raw), read)
  const volume = {
    ...raw,
    resource_id: null,
    resource_type: 'volume',
    status: 'in-progress',
    completed_at: null,
  }
  assert.deepEqual(readAction(volume), {
    ...read,
    underWay: true,
    at: '2020-11-14T16:29:21.000Z',
    kind: 'volume',
    provider_id: null,
  })
  const droplet = {
    ...raw,
    resource_type: 'droplet',
    region_slug: 'ams3',
    started_at: 'x',
    completed_at: null,
  }
  assert.deepEqual(readAction(droplet), {
    ...read,
    at: null,
    region: 'ams3',
    kind: 'droplet',
    provider_id: '758604968',
  })
  assert.deepEqual(readAction({ ...raw, resource_type: 'backend' }), {
    ...read,
    kind: null,
    provider_id: null,
  })
  assert.deepEqual(readAction({ ...raw, resource_id: 2 ** 32 }), { ...read, provider_id: null })
  assert.equal(readAction({ ...raw, id: 'x' }), null)
  assert.equal(readAction({ ...raw, type: 7 }), null)
})

test('each resource is read once; where listing costs less, or no resource is named, the kind is listed', () => {
  const costs = new Map([['droplet', 2]])
  const of = (id: string) => action({ provider_id: id })
  assert.deepEqual(planLooks([of('1'), of('2'), of('1')], costs), {
    resources: [
      { kind: 'droplet', provider_id: '1', gone: false },
      { kind: 'droplet', provider_id: '2', gone: false },
    ],
    kinds: [],
  })
  assert.deepEqual(planLooks([of('1'), of('2'), of('3')], costs), { resources: [], kinds: ['droplet'] })
  assert.equal(
    planLooks([of('1'), of('2'), of('3')], new Map()).resources.length,
    3,
    'a cost that is not known',
  )
  assert.deepEqual(planLooks([action({ kind: null, provider_id: null })], costs), {
    resources: [],
    kinds: [],
  })
  const attach = action({ kind: 'volume', provider_id: null, type: 'attach_volume' })
  assert.deepEqual(planLooks([attach, of('1')], costs), { resources: [], kinds: ['volume', 'droplet'] })
  const snapshot = action({ type: 'snapshot' })
  assert.deepEqual(planLooks([snapshot], costs).kinds, ['snapshot', 'image'])
  assert.deepEqual(planLooks([{ ...snapshot, underWay: true }], costs).kinds, [], 'not before it is done')
  const destroy = action({ type: 'destroy' })
  const gone = { kind: 'droplet', provider_id: '7', gone: true }
  assert.deepEqual(planLooks([destroy], costs), { resources: [gone], kinds: ['volume', 'reserved_ip'] })
  assert.deepEqual(
    planLooks([destroy, of('1'), of('2'), of('3')], costs),
    { resources: [gone], kinds: ['volume', 'reserved_ip', 'droplet'] },
    'what is gone is read by itself, and does not count',
  )
  assert.equal(planLooks([destroy, of('1'), of('2')], costs).resources.length, 3)
})

test('an action concerns its resource, or all of its region where it names none, newest first', () => {
  const own = action({ id: 3 })
  const newer = action({ id: 5 })
  const volume = action({ id: 4, kind: 'volume', provider_id: null })
  const all = [own, newer, volume, action({ id: 6, provider_id: '8' })]
  const ids = (found: ProviderAction[]) => found.map(({ id }) => id)
  assert.deepEqual(ids(actionsOfKind(all, 'droplet')({ provider_id: '7', region: null })), [5, 3])
  assert.deepEqual(ids(actionsOfKind(all, 'volume')({ provider_id: 'v', region: 'nyc3' })), [4])
  assert.deepEqual(ids(actionsOfKind(all, 'volume')({ provider_id: 'v', region: 'ams3' })), [])
  const attach = action({ id: 8, kind: 'volume', provider_id: null, type: 'attach_volume' })
  const inPassing = actionsOfKind([...all, attach], 'droplet')
  assert.deepEqual(
    ids(inPassing({ provider_id: '7', region: 'nyc3' })),
    [8, 5, 3],
    'it changes a droplet too',
  )
  assert.deepEqual(ids(inPassing({ provider_id: '7', region: 'ams3' })), [5, 3])
  assert.deepEqual(ids(actionsOfKind([attach], 'image')({ provider_id: '7', region: 'nyc3' })), [])
})

test('the newest action whose type changes what has changed explains it, and one of an unknown type explains anything', () => {
  const change = { before: 1, after: 2 }
  const rename = action({ id: 1 })
  const power = action({ id: 2, type: 'power_off' })
  const named = { id: 1, type: 'rename', at: rename.at, region: 'nyc3' }
  assert.deepEqual(explaining([power, rename], { name: change }, 'droplet'), named)
  assert.equal(explaining([power], { tags: change }, 'droplet'), null)
  assert.equal(explaining([power, rename], { status: change }, 'droplet')?.id, 2)
  const unknown = action({ id: 9, type: 'something_new' })
  assert.equal(explaining([unknown, rename], { name: change }, 'droplet')?.id, 9)
  assert.equal(explaining([], { name: change }, 'droplet'), null)
  const [create, shot] = [action({ id: 3, type: 'create' }), action({ id: 4, type: 'snapshot' })]
  assert.equal(explaining([power, create], null, 'droplet')?.id, 3)
  assert.equal(explaining([power], null, 'droplet'), null)
  assert.equal(explaining([shot, create], null, 'droplet')?.id, 3, 'a snapshot makes no droplet')
  assert.deepEqual(
    (['snapshot', 'image', 'volume'] as const).map(kind => explaining([shot, create], null, kind)?.id),
    [4, 4, undefined],
  )
  assert.equal(
    explaining([action({ id: 5, type: 'destroy' })], { 'attrs.droplet': change }, 'reserved_ip')?.id,
    5,
  )
})

test('a quarter of each window is for looking, the provider’s own limit where it is less', () => {
  const rates = [
    { requests: 5_000, windowMs: 3_600_000 },
    { requests: 250, windowMs: 60_000 },
  ]
  const now = new Date('2026-11-16T08:00:30.000Z')
  const free = { rates, allowance: () => null }
  assert.equal(lookBudget(free, [], now), 62)
  const minute = { until: '2026-11-16T08:00:20.000Z', requests: 12 }
  assert.equal(lookBudget(free, [minute], now), 50)
  assert.equal(lookBudget(free, [{ until: '2026-11-16T07:59:30.000Z', requests: 12 }], now), 62)
  assert.equal(lookBudget(free, [{ until: '2026-11-16T07:59:30.001Z', requests: 12 }], now), 50)
  const hour = { until: '2026-11-16T07:30:00.000Z', requests: 1_240 }
  assert.equal(lookBudget(free, [hour], now), 10)
  assert.equal(lookBudget(free, [{ ...hour, requests: 2_000 }], now), 0)
  assert.equal(lookBudget(free, [], now, true), 55, 'a tenth of it is left to who follows the actions')
  assert.equal(lookBudget(free, [{ ...hour, requests: 1_120 }], now, true), 5)
  assert.equal(lookBudget(free, [{ ...hour, requests: 1_125 }], now, true), 0)
  assert.equal(lookBudget(free, [{ ...hour, requests: 1_126 }], now, true), 0)
  const lower = { rates, allowance: () => ({ limit: 100, remaining: 100, resetAt: 0 }) }
  assert.equal(lookBudget(lower, [], now), 25)
  assert.equal(lookBudget({ rates: [], allowance: () => null }, [hour], now), Number.MAX_SAFE_INTEGER)
  assert.equal(lookShare(free, [{ ...hour, requests: 1_000 }], now), 0.2)
  assert.equal(lookShare(free, [{ ...minute, requests: 50 }], now), 0.2)
  assert.equal(lookShare(free, [], now), 0)
})

test('a kind costs one request a minute, however many pages it has; one that fails is tried again, ever less often', () => {
  assert.deepEqual([turnAfter(0), turnAfter(1), turnAfter(5)], [60_000, 60_000, 300_000])
  assert.deepEqual([retryAfterPartial(72_000), retryAfterPartial(800_000)], [9_000, 100_000])
  assert.deepEqual([retryAfterPartial(4_800_000), retryAfterPartial(4_800_008)], [600_000, 600_000])
  assert.deepEqual([retryAfterPartial(-5), retryAfterPartial(null)], [0, 600_000])
})
