// Subscribing a deployment and changing its subscription. The deployment is locked meanwhile, so that it cannot be cancelled
// between the check and the write.
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, mayOperate, scopeOf } from '../../kernel/http/caller.ts'
import {
  type AddonChoice,
  addAddon,
  type Books,
  changePlanVersion,
  type MonthPreview,
  previewSubscribe,
  removeAddon,
  subscribe,
  timeOf,
} from '../subscriptions/index.ts'
import { allowPast } from './backdating.ts'
import type { CloudDeploymentRow } from './deployment.ts'
import { isOver, OPERATE, subscriptionAfter } from './lifecycle.ts'
import { lockDeployment } from './store.ts'

export interface Needed extends Pick<Deps, 'db' | 'tenantTime'> {
  books: Books
}

interface Effective {
  effective_from?: string
  preview?: boolean
}

export interface SubscribeInput extends Effective {
  plan_code: string
  addons?: AddonChoice[]
  trial_ends_at?: string | null
}

/** The subscription as JSON text, or what the month would end with. */
export function subscribeDeployment(
  { db, tenantTime, books }: Needed,
  caller: Caller,
  id: string,
  { plan_code, addons = [], trial_ends_at: trial = null, effective_from, preview = false }: SubscribeInput,
): Promise<string | MonthPreview> {
  if (trial !== null && !mayOperate(caller, OPERATE))
    throw forbidden(`trial_ends_at is for operators with ${OPERATE}.`)
  return transaction(db, async tx => {
    const deployment = await locked(tx, caller, id)
    if (isOver(deployment.state))
      throw invalid(`A deployment that is ${deployment.state} takes no subscription.`)
    const now = await tenantTime.of(tx, deployment.tenant_id)
    const from = timeOf(effective_from, now, '/effective_from')
    if (from < now.toISOString()) {
      await allowPast(tx, books, caller, {
        tenantId: deployment.tenant_id,
        field: 'effective_from',
        at: from,
      })
      if (from < deployment.created_at)
        throw unacceptable('/effective_from', `is before the deployment was made (${deployment.created_at})`)
    }
    if (trial !== null && Date.parse(trial) <= Date.parse(from))
      throw unacceptable('/trial_ends_at', 'lies in the past')
    const status = subscriptionAfter(deployment.state) ?? 'active'
    const trialEndsAt = trial && new Date(trial).toISOString()
    const asked = { deploymentId: id, planCode: plan_code, addons, trialEndsAt, status, from }
    return preview ? previewSubscribe(tx, now, asked, books.previewMonth) : subscribe(tx, now, asked)
  })
}

export interface ChangeInput extends Effective {
  plan_code?: string
  plan_version_id?: string
}

export function changeDeploymentPlan(
  { db, tenantTime, books }: Needed,
  caller: Caller,
  id: string,
  { plan_code, plan_version_id, ...effective }: ChangeInput,
): Promise<object> {
  return transaction(db, async tx => {
    const { tenant_id } = await locked(tx, caller, id)
    const now = await tenantTime.of(tx, tenant_id)
    const asked = {
      ...changeOf(id, effective),
      planCode: plan_code,
      planVersionId: plan_version_id,
      anyVersion: caller.platformAdmin,
    }
    return changePlanVersion(tx, now, asked, books.previewMonth)
  })
}

export interface AddonInput extends Effective {
  code: string
  quantity?: number
}

export function addDeploymentAddon(
  { db, tenantTime, books }: Needed,
  caller: Caller,
  id: string,
  { code, quantity = 1, ...effective }: AddonInput,
): Promise<object> {
  return transaction(db, async tx => {
    const { tenant_id } = await locked(tx, caller, id)
    const now = await tenantTime.of(tx, tenant_id)
    return addAddon(tx, now, { code, quantity, ...changeOf(id, effective) }, books.previewMonth)
  })
}

export function removeDeploymentAddon(
  { db, tenantTime, books }: Needed,
  caller: Caller,
  id: string,
  addonId: string,
  effective: Effective,
): Promise<object | null> {
  return transaction(db, async tx => {
    const { tenant_id } = await locked(tx, caller, id)
    const now = await tenantTime.of(tx, tenant_id)
    return removeAddon(tx, now, { addonId, ...changeOf(id, effective) }, books.previewMonth)
  })
}

const changeOf = (deploymentId: string, { effective_from, preview = false }: Effective) => ({
  deploymentId,
  effectiveFrom: effective_from,
  preview,
})

async function locked(tx: Executor, caller: Caller, id: string): Promise<CloudDeploymentRow> {
  const deployment = await lockDeployment(tx, scopeOf(caller), id)
  if (!deployment) throw notFound()
  return deployment
}

const unacceptable = (pointer: string, message: string) =>
  invalid('The body is not acceptable.', [{ pointer, message }])
