// Subscribing to a plan, moving to another version of one, and what a deployment's moves and the months do.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, type FieldError, forbidden, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { monthOf } from '../../kernel/time.ts'
import { type AddonRow, findActiveVersion, findAddons, findVersion } from '../catalog/index.ts'
import {
  addonCurrencies,
  insertSubscription,
  lockSubscription,
  type Period,
  rollOver,
  setPlanVersion,
  setStatus,
  subscriptionJson,
} from './store.ts'
import type { SubscriptionStatus } from './subscription.ts'

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

/** A deployment's move pauses, resumes or cancels its subscription. */
export const followDeployment = setStatus

export type AddonChoice = string | { code: string; quantity?: number }

export interface NewSubscription {
  deploymentId: string
  planCode: string
  addons: AddonChoice[]
  trialEndsAt: string | null
  status: SubscriptionStatus
}

/**
 * The subscription as JSON text. It is bound to the version that is active now, and price and quantity of its addons are
 * copied from the catalog as they are now.
 */
export async function subscribe(tx: Executor, now: Date, input: NewSubscription): Promise<string> {
  const plan = await findActiveVersion(tx, input.planCode)
  if (!plan) throw notAcceptable({ pointer: '/plan_code', message: 'is not the code of a plan' })
  if (!plan.version)
    throw notAcceptable({ pointer: '/plan_code', message: 'names a plan without an active version' })
  const { id: planVersionId, currency } = plan.version
  const at = now.toISOString()
  const subscription = {
    id: newId(),
    deployment_id: input.deploymentId,
    plan_version_id: planVersionId,
    status: input.status,
    ...periodOf(now),
    trial_ends_at: input.trialEndsAt,
    created_at: at,
    updated_at: at,
  }
  const addons = (await chosen(tx, input.addons, currency)).map(({ addon, quantity }) => ({
    id: newId(),
    subscription_id: subscription.id,
    code: addon.code,
    resource_kind: addon.resource_kind,
    qty: addon.qty,
    price_cents: addon.price_cents,
    currency: addon.currency,
    quantity,
    created_at: at,
    valid_from: at,
    valid_to: null,
  }))
  try {
    await insertSubscription(tx, subscription, addons)
  } catch (error) {
    if (violatedConstraint(error) !== 'subscriptions_one_each') throw error
    throw conflict('already_subscribed', 'The deployment has a subscription already.')
  }
  return (await subscriptionJson(tx, input.deploymentId))!
}

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

const notAcceptable = (...errors: FieldError[]) => invalid('The body is not acceptable.', errors)

export interface PlanChangeRequest {
  deploymentId: string
  planCode?: string
  planVersionId?: string
  preview: boolean
  /** A platform_admin may choose a version that is not active. */
  anyVersion: boolean
}

/** Addons keep what was agreed. */
export async function changePlanVersion(
  tx: Executor,
  now: Date,
  request: PlanChangeRequest,
): Promise<object> {
  const { deploymentId, preview } = request
  const subscription = await lockSubscription(tx, deploymentId)
  if (!subscription) throw conflict('not_subscribed', 'The deployment has no subscription to change.')
  if (subscription.status === 'cancelled') throw invalid('The subscription is cancelled.')
  const current = await findVersion(tx, subscription.plan_version_id)
  const target = await targetOf(tx, request)
  if (!current) throw new Error(`subscription ${subscription.id} is bound to no version`)
  const agreed = new Set([current.currency, ...(await addonCurrencies(tx, subscription.id))])
  if (agreed.size > 1 || !agreed.has(target.currency)) {
    throw invalid(`The subscription is in ${[...agreed].join(', ')}, that version in ${target.currency}.`)
  }
  if (!preview && target.id !== current.id)
    await setPlanVersion(tx, subscription.id, target.id, now.toISOString())
  const side = (version: typeof current) => ({
    plan_code: version.plan_code,
    plan_version_id: version.id,
    base_price_cents: version.base_price_cents,
  })
  return {
    subscription: JSON.parse((await subscriptionJson(tx, deploymentId))!),
    preview,
    from: side(current),
    to: side(target),
    currency: target.currency,
    difference_cents: target.base_price_cents - current.base_price_cents,
  }
}

async function targetOf(tx: Executor, { planCode, planVersionId, anyVersion }: PlanChangeRequest) {
  if ((planCode === undefined) === (planVersionId === undefined)) {
    throw notAcceptable({ pointer: '', message: 'must name a plan_code or a plan_version_id, and not both' })
  }
  if (planCode !== undefined) {
    const plan = await findActiveVersion(tx, planCode)
    if (!plan) throw notAcceptable({ pointer: '/plan_code', message: 'is not the code of a plan' })
    if (!plan.version)
      throw notAcceptable({ pointer: '/plan_code', message: 'names a plan without an active version' })
    return plan.version
  }
  const version = await findVersion(tx, planVersionId!)
  // To a tenant a version that is not active might as well not exist, but that it may not choose one is no secret.
  if (!version || version.status === 'draft')
    throw notAcceptable({ pointer: '/plan_version_id', message: 'is not a published version' })
  if (version.status !== 'active' && !anyVersion)
    throw forbidden('A version that is not active is for a platform_admin to choose.')
  return version
}
