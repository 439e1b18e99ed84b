// Changes of a living subscription: to another plan version, of its addons. Each counts from a time that is now or to come.
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { fieldsOf } from '../../kernel/noun.ts'
import { findAddons, findVersion } from '../catalog/index.ts'
import { activeVersion, attached, notAcceptable } from './actions.ts'
import type { MonthPreview, PreviewMonth } from './month-preview.ts'
import {
  addonCurrencies,
  endAddon,
  findAddon,
  insertAddons,
  listTerms,
  lockSubscription,
  noteVersion,
  setPlanVersion,
  subscriptionJson,
  versionInForce,
} from './store.ts'
import { SubscriptionAddon, type SubscriptionRow } from './subscription.ts'
import { type AddonTerms, effectiveAt, endAt, isVoid, withAddon, withoutAddon, withVersion } from './terms.ts'

export interface Change {
  deploymentId: string
  /** As the caller says it; undefined: now. */
  effectiveFrom: string | undefined
  preview: boolean
}

/** With the month that it would make of it, where that is asked for. */
interface Begun {
  subscription: SubscriptionRow
  /** From when the change counts. */
  at: string
  /** The caller's time, or that of the beginning where this node's clock is a little behind the one that dated it. */
  now: string
}

async function begin(tx: Executor, now: Date, change: Change, pointer: string): Promise<Begun> {
  const subscription = await lockSubscription(tx, change.deploymentId)
  if (!subscription) throw conflict('not_subscribed', 'The deployment has no subscription to change.')
  if (subscription.status === 'cancelled') throw invalid('The subscription is cancelled.')
  const at = timeOf(change.effectiveFrom, now, pointer)
  if (at < now.toISOString()) throw notAcceptable({ pointer, message: 'lies in the past' })
  // Before its beginning there is nothing to change.
  const first = (await listTerms(tx, subscription.id))[0]!.valid_from
  return { subscription, at: later(at, first), now: later(now.toISOString(), first) }
}

const later = (a: string, b: string): string => (a > b ? a : b)

/** The time that a caller names. */
export function timeOf(effectiveFrom: string | undefined, now: Date, pointer: string): string {
  const at = effectiveAt(effectiveFrom ?? 'now', now)
  if (at === undefined) throw notAcceptable({ pointer, message: 'is not a day or a time that there is' })
  return at
}

export interface PlanChangeRequest extends Change {
  planCode?: string
  planVersionId?: string
  /** A platform_admin may choose a version that is not active. */
  anyVersion: boolean
}

/** What was scheduled for that time or later is called off. Addons keep what was agreed. */
export async function changePlanVersion(
  tx: Executor,
  now: Date,
  request: PlanChangeRequest,
  previewMonth: PreviewMonth,
): Promise<object> {
  const { deploymentId, preview } = request
  const { subscription, at, now: time } = await begin(tx, now, request, '/effective_from')
  const current = (await findVersion(tx, await versionInForce(tx, subscription.id, at)))!
  const target = await targetOf(tx, request, current.id)
  const agreed = new Set([current.currency, ...(await addonCurrencies(tx, subscription.id, at))])
  if (agreed.size > 1 || !agreed.has(target.currency)) {
    throw invalid(`The subscription is in ${[...agreed].join(', ')}, that version in ${target.currency}.`)
  }
  const side = ({ plan_code, id, base_price_cents }: typeof current) => ({
    plan_code,
    plan_version_id: id,
    base_price_cents,
  })
  const month = preview
    ? await previewMonth(tx, {
        now,
        deploymentId,
        at,
        change: terms => withVersion(terms!, { ...side(target), items: target.items }, at),
      })
    : null
  if (!preview && !(await holdsFrom(tx, subscription, target.id, at)))
    await setPlanVersion(tx, subscription.id, target.id, at)
  if (!preview && at <= time) await noteVersion(tx, subscription.id, target.id, time)
  return {
    subscription: JSON.parse((await subscriptionJson(tx, deploymentId, time))!),
    preview,
    from: side(current),
    to: side(target),
    currency: target.currency,
    difference_cents: target.base_price_cents - current.base_price_cents,
    effective_from: at,
    month,
  }
}

/** Whether the version holds from that time on anyway, and none is scheduled after it. */
async function holdsFrom(
  tx: Executor,
  { id }: SubscriptionRow,
  versionId: string,
  at: string,
): Promise<boolean> {
  const rows = await listTerms(tx, id)
  const last = rows.findLast(row => !isVoid(row))
  return last !== undefined && last.plan_version_id === versionId && last.valid_from <= at
}

/** To keep what holds is everybody's choice: so a scheduled change is called off. */
async function targetOf(
  tx: Executor,
  { planCode, planVersionId, anyVersion }: PlanChangeRequest,
  currentId: string,
) {
  if ((planCode === undefined) === (planVersionId === undefined)) {
    throw notAcceptable({ pointer: '', message: 'must name a plan_code or a plan_version_id, and not both' })
  }
  if (planCode !== undefined) return activeVersion(tx, planCode)
  const version = await findVersion(tx, planVersionId!)
  // To a tenant a version that is not active might as well not exist, but that it may not choose one is no secret.
  if (!version || version.status === 'draft')
    throw notAcceptable({ pointer: '/plan_version_id', message: 'is not a published version' })
  if (version.status !== 'active' && !anyVersion && version.id !== currentId)
    throw forbidden('A version that is not active is for a platform_admin to choose.')
  return version
}

export interface AddonRequest extends Change {
  code: string
  quantity: number
}

/** Price and quantity are the catalog's of now. The addon as it was attached, or the month that it would make. */
export async function addAddon(
  tx: Executor,
  now: Date,
  { code, quantity, ...change }: AddonRequest,
  previewMonth: PreviewMonth,
): Promise<AddonTerms | MonthPreview> {
  const { subscription, at } = await begin(tx, now, change, '/effective_from')
  const [addon] = await findAddons(tx, [code])
  if (!addon) throw notAcceptable({ pointer: '/code', message: 'is not the code of an addon' })
  const { currency } = (await findVersion(tx, await versionInForce(tx, subscription.id, at)))!
  if (addon.currency !== currency)
    throw notAcceptable({
      pointer: '/code',
      message: `is priced in ${addon.currency}, the plan in ${currency}`,
    })
  const row = attached(subscription.id, addon, quantity, now.toISOString(), at)
  const added = fieldsOf(SubscriptionAddon, row) as AddonTerms
  const { deploymentId } = change
  if (change.preview)
    return previewMonth(tx, { now, deploymentId, at, change: terms => withAddon(terms!, added) })
  try {
    await insertAddons(tx, [row])
  } catch (error) {
    if (violatedConstraint(error) !== 'subscription_addons_no_overlap') throw error
    const message = `The subscription has ${code} at that time already. Remove it from then on first.`
    throw conflict('addon_attached', message, { cause: error })
  }
  return added
}

/** Null: it is done; or the month that it would make. */
export async function removeAddon(
  tx: Executor,
  now: Date,
  { addonId, ...change }: Change & { addonId: string },
  previewMonth: PreviewMonth,
): Promise<MonthPreview | null> {
  const pointer = '?effective_from'
  const { subscription, at } = await begin(tx, now, change, pointer)
  const row = await findAddon(tx, subscription.id, addonId)
  const { valid_to: end } = row ?? {}
  if (!row || isVoid(row) || (end !== null && end! <= now.toISOString())) throw notFound()
  if (end !== null && end! < at) throw notAcceptable({ pointer, message: `is after its end (${end})` })
  const { deploymentId } = change
  if (change.preview)
    return previewMonth(tx, { now, deploymentId, at, change: terms => withoutAddon(terms!, addonId, at) })
  await endAddon(tx, addonId, endAt(row, at))
  return null
}
