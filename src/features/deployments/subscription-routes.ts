// /api/v1/deployments/:id/subscribe, /change-plan-version and /addons
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Id } from '../../kernel/http/schemas.ts'
import {
  AddAddonBody,
  type Books,
  ChangePlanVersionBody,
  MonthPreview,
  PlanChange,
  RemoveAddonQuery,
  SubscribeBody,
  Subscription,
  SubscriptionAddon,
} from '../subscriptions/index.ts'
import {
  addDeploymentAddon,
  changeDeploymentPlan,
  removeDeploymentAddon,
  subscribeDeployment,
} from './subscribing.ts'

const params = Type.Object({ id: Id })
const base = '/api/v1/deployments'
const NOT_SUBSCRIBED = { not_subscribed: 'The deployment has no subscription.' }
const WHEN =
  'Now, or from `effective_from` on: base price and addons are charged for the part of the month in which they hold, and months that are over stay as they are. With `preview: true` nothing changes, and the answer is the statement that the month of the change would end with, beside that of today.'

export const subscriptionRoutes = (deps: Deps, books: Books) =>
  routes({ ...deps, books }, { tag: 'Deployments', guard: 'caller' }, route => {
    route.post(
      `${base}/:id/subscribe`,
      {
        id: 'subscribeDeployment',
        summary: 'Subscribe a deployment to a plan',
        description: `Binds it to the plan’s active version and copies price and quantity of the addons. 409 \`already_subscribed\`. ${WHEN}`,
        problems: {
          409: {
            already_subscribed: 'The deployment has a subscription.',
            month_closed: 'The statements of that month are written.',
          },
        },
        params,
        body: SubscribeBody,
        status: 201,
        data: Subscription,
        preview: MonthPreview,
      },
      async ({ deps, caller, params, body, reply }) => {
        const done = await subscribeDeployment(deps, caller, params.id, body)
        if (typeof done !== 'string') return done
        reply.header('location', `${base}/${params.id}`)
        return new JsonText(done)
      },
    )

    route.post(
      `${base}/:id/change-plan-version`,
      {
        id: 'changePlanVersion',
        summary: 'Move the subscription to another plan version',
        description: `${WHEN} What was scheduled for that time or later is called off, also by a change to the version that holds. Addons keep what was agreed.`,
        problems: { 409: NOT_SUBSCRIBED },
        params,
        body: ChangePlanVersionBody,
        data: PlanChange,
      },
      ({ deps, caller, params, body }) => changeDeploymentPlan(deps, caller, params.id, body),
    )

    route.post(
      `${base}/:id/addons`,
      {
        id: 'addAddon',
        summary: 'Add an addon to the subscription',
        description: `${WHEN} Price and quantity are copied from the catalog as it is now. For another number of an addon remove it and add it from the same time on.`,
        problems: {
          409: { ...NOT_SUBSCRIBED, addon_attached: 'The subscription has the addon at that time already.' },
        },
        params,
        body: AddAddonBody,
        status: 201,
        data: SubscriptionAddon,
        preview: MonthPreview,
      },
      async ({ deps, caller, params, body, reply }) => {
        const done = await addDeploymentAddon(deps, caller, params.id, body)
        if (!body.preview) reply.header('location', `${base}/${params.id}`)
        return done
      },
    )

    route.delete(
      `${base}/:id/addons/:addon_id`,
      {
        id: 'removeAddon',
        summary: 'Remove an addon from the subscription',
        description: `${WHEN} One that has not begun never holds; one that is to end later ends then.`,
        problems: { 409: NOT_SUBSCRIBED },
        params: Type.Object({ id: Id, addon_id: Id }),
        query: RemoveAddonQuery,
        preview: MonthPreview,
        done: 'It holds no longer, or will not from that time on.',
      },
      ({ deps, caller, params, query }) =>
        removeDeploymentAddon(deps, caller, params.id, params.addon_id, query),
    )
  })
