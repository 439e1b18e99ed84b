// Subscribing to a plan, and what the months do.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, type FieldError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { monthOf } from '../../kernel/time.ts'
import { type AddonRow, findActiveVersion, findAddons } from '../catalog/index.ts'
import type { MonthPreview, PreviewMonth } from './month-preview.ts'
import { insertSubscription, lockSubscription, type Period, rollOver, subscriptionJson } from './store.ts'
import type { SubscriptionAddonRow, SubscriptionStatus } from './subscription.ts'

/** The calendar month. */
function periodOf(at: Date): Period {
  const { first_day, last_day } = monthOf(at)
  return { current_period_start: first_day, current_period_end: last_day }
}

/** On the first of a month every living subscription enters the new period. */
export const rollOverPeriods = ({ db, clock }: Deps): Task => ({
  name: 'subscription_periods',
  description: 'Moves subscriptions whose period has ended into the current month.',
  queue: 'metering',
  cron: '1 0 1 * *',
  async run({ log }) {
    const now = clock.now()
    const moved = await rollOver(db, periodOf(now), now.toISOString())
    log.info({ moved }, 'subscription periods rolled over')
  },
})

/** The same for the tenant of a test clock. */
export const rollOverTenant = (tx: Executor, tenantId: string, now: Date): Promise<number> =>
  rollOver(tx, periodOf(now), now.toISOString(), tenantId)

export type AddonChoice = string | { code: string; quantity?: number }

export interface NewSubscription {
  deploymentId: string
  planCode: string
  addons: AddonChoice[]
  trialEndsAt: string | null
  status: SubscriptionStatus
  /** From when its terms hold. */
  from: string
}

/**
 * The subscription as JSON text. It is bound to the version that is active now, and price and quantity of its addons are
 * copied from the catalog as they are now.
 */
export async function subscribe(tx: Executor, now: Date, input: NewSubscription): Promise<string> {
  const { subscription, addons } = await newSubscription(tx, now, input)
  try {
    await insertSubscription(tx, subscription, addons, input.from)
  } catch (error) {
    if (violatedConstraint(error) !== 'subscriptions_one_each') throw error
    throw alreadySubscribed()
  }
  return (await subscriptionJson(tx, input.deploymentId, now.toISOString()))!
}

/** What the month would end with. */
export async function previewSubscribe(
  tx: Executor,
  now: Date,
  input: NewSubscription,
  previewMonth: PreviewMonth,
): Promise<MonthPreview> {
  const { deploymentId, from } = input
  if (await lockSubscription(tx, deploymentId)) throw alreadySubscribed()
  const { subscription, version, addons } = await newSubscription(tx, now, input)
  const { plan_code, base_price_cents, currency, items } = version
  const terms = { plan_code, plan_version_id: version.id, base_price_cents, items }
  return previewMonth(tx, {
    now,
    deploymentId,
    at: from,
    change: () => ({
      subscription_id: subscription.id,
      deployment_id: deploymentId,
      currency,
      trial_ends_at: subscription.trial_ends_at,
      versions: [{ ...terms, valid_from: from, valid_to: null }],
      addons: addons.toSorted((a, b) => (a.code < b.code ? -1 : 1)),
    }),
  })
}

const alreadySubscribed = () => conflict('already_subscribed', 'The deployment has a subscription already.')

async function newSubscription(tx: Executor, now: Date, input: NewSubscription) {
  const version = await activeVersion(tx, input.planCode)
  const at = now.toISOString()
  const subscription = {
    id: newId(),
    deployment_id: input.deploymentId,
    plan_version_id: version.id,
    status: input.status,
    ...periodOf(now),
    trial_ends_at: input.trialEndsAt,
    created_at: at,
    updated_at: at,
  }
  const picked = await chosen(tx, input.addons, version.currency)
  const addons = picked.map(({ addon, quantity }) =>
    attached(subscription.id, addon, quantity, at, input.from),
  )
  return { subscription, version, addons }
}

/** What a new signup gets. */
export async function activeVersion(tx: Executor, planCode: string) {
  const plan = await findActiveVersion(tx, planCode)
  if (!plan) throw notAcceptable({ pointer: '/plan_code', message: 'is not the code of a plan' })
  if (!plan.version)
    throw notAcceptable({ pointer: '/plan_code', message: 'names a plan without an active version' })
  return plan.version
}

/** An addon of the catalog as it is now. */
export const attached = (
  subscription_id: string,
  { code, resource_kind, qty, price_cents, currency }: AddonRow,
  quantity: number,
  created_at: string,
  valid_from: string,
): SubscriptionAddonRow => ({
  id: newId(),
  subscription_id,
  code,
  resource_kind,
  qty,
  price_cents,
  currency,
  quantity,
  created_at,
  valid_from,
  valid_to: null,
})

async function chosen(
  tx: Executor,
  choices: AddonChoice[],
  currency: string,
): Promise<{ addon: AddonRow; quantity: number }[]> {
  const wanted = choices.map(choice =>
    typeof choice === 'string' ? { code: choice, quantity: 1 } : { quantity: 1, ...choice },
  )
  const known = new Map(
    (
      await findAddons(
        tx,
        wanted.map(({ code }) => code),
      )
    ).map(addon => [addon.code, addon]),
  )
  const problems: FieldError[] = []
  const found = wanted.flatMap(({ code, quantity }, index) => {
    const pointer = `/addons/${index}`
    const addon = known.get(code)
    if (wanted.findIndex(other => other.code === code) !== index)
      problems.push({ pointer, message: `names ${code} a second time` })
    else if (!addon) problems.push({ pointer, message: 'is not the code of an addon' })
    else if (addon.currency !== currency)
      problems.push({ pointer, message: `is priced in ${addon.currency}, the plan in ${currency}` })
    return addon ? [{ addon, quantity }] : []
  })
  if (problems.length > 0) throw notAcceptable(...problems)
  return found
}

export const notAcceptable = (...errors: FieldError[]) => invalid('The body is not acceptable.', errors)
