// Moves a subscription to another plan version: a price change, an up- or a downgrade. Addons keep what was agreed.
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, forbidden, invalid } from '../../kernel/errors.ts'
import { findActiveVersion, findVersion } from '../catalog/index.ts'
import { addonCurrencies, lockSubscription, setPlanVersion, subscriptionJson } from './repository.ts'

export interface PlanChangeRequest {
  deploymentId: string
  planCode?: string
  planVersionId?: string
  preview: boolean
  /** A platform_admin may choose a version that is not active. */
  anyVersion: boolean
}

interface Side {
  plan_code: string
  plan_version_id: string
  base_price_cents: number
}

/** What changes, as JSON text. */
export async function changePlanVersion(
  tx: Executor,
  now: Date,
  request: PlanChangeRequest,
): Promise<string> {
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
  const side = (version: typeof current): Side => ({
    plan_code: version.plan_code,
    plan_version_id: version.id,
    base_price_cents: version.base_price_cents,
  })
  const change = {
    preview,
    from: side(current),
    to: side(target),
    currency: target.currency,
    difference_cents: target.base_price_cents - current.base_price_cents,
  }
  return `{"subscription":${await subscriptionJson(tx, deploymentId)},${JSON.stringify(change).slice(1)}`
}

async function targetOf(tx: Executor, { planCode, planVersionId, anyVersion }: PlanChangeRequest) {
  if ((planCode === undefined) === (planVersionId === undefined)) {
    throw notAcceptable('', 'must name a plan_code or a plan_version_id, and not both')
  }
  if (planCode !== undefined) {
    const plan = await findActiveVersion(tx, planCode)
    if (!plan) throw notAcceptable('/plan_code', 'is not the code of a plan')
    if (!plan.version) throw notAcceptable('/plan_code', 'names a plan without an active version')
    return plan.version
  }
  const version = await findVersion(tx, planVersionId!)
  // To a tenant a version that is not active might as well not exist, but that it may not choose one is no secret.
  if (!version || version.status === 'draft')
    throw notAcceptable('/plan_version_id', 'is not a published version')
  if (version.status !== 'active' && !anyVersion)
    throw forbidden('A version that is not active is for a platform_admin to choose.')
  return version
}

const notAcceptable = (pointer: string, message: string) =>
  invalid('The body is not acceptable.', [{ pointer, message }])
