// A deployment takes a plan: bound to the version that is active now, with price and quantity of its addons copied from
// the catalog as they are now.
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, type FieldError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { monthOf } from '../../kernel/time.ts'
import { type AddonRow, findActiveVersion, findAddons } from '../catalog/index.ts'
import { insertSubscription, subscriptionJson } from './repository.ts'
import type { SubscriptionStatus } from './tables.ts'

export type AddonChoice = string | { code: string; quantity?: number }

export interface NewSubscription {
  deploymentId: string
  planCode: string
  addons: AddonChoice[]
  trialEndsAt: string | null
  status: SubscriptionStatus
}

/** The subscription as JSON text. */
export async function subscribe(tx: Executor, now: Date, input: NewSubscription): Promise<string> {
  const plan = await findActiveVersion(tx, input.planCode)
  if (!plan) throw notAcceptable({ pointer: '/plan_code', message: 'is not the code of a plan' })
  if (!plan.version)
    throw notAcceptable({ pointer: '/plan_code', message: 'names a plan without an active version' })
  const { id: planVersionId, currency } = plan.version
  const [at, { first_day, last_day }] = [now.toISOString(), monthOf(now)]
  const subscription = {
    id: newId(),
    deployment_id: input.deploymentId,
    plan_version_id: planVersionId,
    status: input.status,
    current_period_start: first_day,
    current_period_end: last_day,
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
