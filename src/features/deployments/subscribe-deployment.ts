// A deployment is subscribed to a plan, or moved to another version of one. The deployment is held still meanwhile, so
// that it cannot be cancelled between the look and the write.
import { transaction } from '../../kernel/db/transaction.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, mayOperate, scopeOf } from '../../kernel/http/caller.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { type AddonChoice, changePlanVersion, subscribe } from '../subscriptions/index.ts'
import { isOver, OPERATE } from './lifecycle.ts'
import { lockDeployment } from './repository.ts'
import { subscriptionAfter } from './subscription-after.ts'

export interface SubscribeInput {
  plan_code: string
  addons?: AddonChoice[]
  trial_ends_at?: string | null
}

/** The subscription as JSON text. */
export function subscribeDeployment(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  input: SubscribeInput,
): Promise<string> {
  const trial = input.trial_ends_at ?? null
  if (trial !== null && !mayOperate(caller, OPERATE))
    throw forbidden(`trial_ends_at is for operators with ${OPERATE}.`)
  return transaction(db, async tx => {
    const deployment = await lockDeployment(tx, scopeOf(caller), id)
    if (!deployment) throw notFound()
    if (isOver(deployment.state))
      throw invalid(`A deployment that is ${deployment.state} takes no subscription.`)
    const now = clock.now()
    if (trial !== null && Date.parse(trial) <= now.getTime()) {
      throw invalid('The body is not acceptable.', [
        { pointer: '/trial_ends_at', message: 'lies in the past' },
      ])
    }
    const status = subscriptionAfter(deployment.state) ?? 'active'
    return subscribe(tx, now, {
      deploymentId: id,
      planCode: input.plan_code,
      addons: input.addons ?? [],
      trialEndsAt: trial,
      status,
    })
  })
}

export interface ChangeInput {
  plan_code?: string
  plan_version_id?: string
  preview?: boolean
}

/** What changes, as JSON text. */
export function changeDeploymentPlan(
  { db, clock }: Kernel,
  caller: Caller,
  id: string,
  input: ChangeInput,
): Promise<string> {
  return transaction(db, async tx => {
    if (!(await lockDeployment(tx, scopeOf(caller), id))) throw notFound()
    return changePlanVersion(tx, clock.now(), {
      deploymentId: id,
      planCode: input.plan_code,
      planVersionId: input.plan_version_id,
      preview: input.preview ?? false,
      anyVersion: caller.platformAdmin,
    })
  })
}
