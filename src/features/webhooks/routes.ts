// /api/v1/admin/webhooks, the platform's own, and /api/v1/webhooks, those of tenants: the same routes and statements for two
// sets of webhooks.
import type { FastifyInstance } from 'fastify'
import { type TUnsafe, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { forbidden, invalid, notFound } from '../../kernel/errors.ts'
import {
  type Caller,
  type Guard,
  refuseForeignTenant,
  type Scope,
  scopeOf,
} from '../../kernel/http/caller.ts'
import { cursorOf } from '../../kernel/http/pages.ts'
import type { DeclaredProblems } from '../../kernel/http/problems.ts'
import { JsonText, routes } from '../../kernel/http/route.ts'
import { Body, ExternalId, Id, NoBody, Nullable } from '../../kernel/http/schemas.ts'
import {
  type CreateWebhook,
  changeWebhook,
  createWebhook,
  MOST_OF_ONE_TENANT,
  replayDelivery,
  rotateSecret,
  testWebhook,
} from './actions.ts'
import { PATTERNS, TENANT_PATTERNS } from './events.ts'
import {
  deleteWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  type Owner,
  showDelivery,
  type WebhookChanges,
} from './store.ts'
import { DELIVERY_STATUSES, Delivery, DeliveryDetail, Webhook, WebhookWithSecret } from './webhook.ts'

const Url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    'Where events are sent: https, and not to a private address, unless the configuration allows it.',
})
const Events = (patterns: readonly string[]) =>
  Type.Array(Type.Enum([...patterns]), {
    minItems: 1,
    maxItems: patterns.length,
    uniqueItems: true,
    description: 'Types, families such as `drift.*`, or `*`.',
  })
const Description = Nullable(Type.String({ maxLength: 255 }))
const Tenant = Nullable(
  Type.String({ ...ExternalId, description: 'Only events of this tenant; null: of all, and of none.' }),
)
const OwnTenant = Type.String({
  ...ExternalId,
  description: 'Whose it is: the caller’s own tenant. Required of an operator whose token names none.',
})
const Enabled = Type.Boolean({
  description: 'While it is false nothing is kept for the webhook, and what is pending waits.',
})

const createFields = (patterns: readonly string[]) => ({
  url: Url,
  events: Events(patterns),
  description: Type.Optional(Description),
})
const createdEnabled = { enabled: Type.Optional({ ...Enabled, default: true }) }
const updateFields = (patterns: readonly string[]) => ({
  url: Type.Optional(Url),
  events: Type.Optional(Events(patterns)),
  description: Type.Optional(Description),
  enabled: Type.Optional(Enabled),
})

/** One of the two sets. */
interface WebhookSet {
  base: string
  guard: Guard
  CreateBody: TUnsafe<CreateWebhook>
  UpdateBody: TUnsafe<WebhookChanges>
  /** The operations' ids: those of tenants say `Own`. */
  named(operationId: string): string
  /** Which webhooks of the set a caller may touch. */
  ownerIn(scope: Scope): Owner
  /** Whose a new one is; null: the platform's. */
  tenantOf(caller: Caller, body: CreateWebhook): string | null
  about: string
  createProblems: DeclaredProblems
}

const OF_PLATFORM: WebhookSet = {
  base: '/api/v1/admin/webhooks',
  guard: 'platform_admin',
  CreateBody: Type.Unsafe(
    Body(
      { ...createFields(PATTERNS), tenant_id: Type.Optional(Tenant), ...createdEnabled },
      { title: 'CreateWebhook' },
    ),
  ),
  UpdateBody: Type.Unsafe(
    Body({ ...updateFields(PATTERNS), tenant_id: Type.Optional(Tenant) }, { title: 'UpdateWebhook' }),
  ),
  named: id => id,
  ownerIn: () => 'platform',
  tenantOf: () => null,
  about: 'The platform’s own; those of tenants are at `/webhooks`.',
  createProblems: {},
}

const OF_TENANTS: WebhookSet = {
  base: '/api/v1/webhooks',
  guard: 'caller',
  CreateBody: Type.Unsafe(
    Body(
      { ...createFields(TENANT_PATTERNS), tenant_id: Type.Optional(OwnTenant), ...createdEnabled },
      { title: 'CreateOwnWebhook' },
    ),
  ),
  UpdateBody: Type.Unsafe(Body(updateFields(TENANT_PATTERNS), { title: 'UpdateOwnWebhook' })),
  named: id => id.replace('Webhook', 'OwnWebhook'),
  ownerIn: scope => scope,
  tenantOf: ownTenant,
  about: 'Of the caller’s tenant, and told of that tenant alone.',
  createProblems: { 409: { webhook_limit: `The tenant has ${MOST_OF_ONE_TENANT} webhooks already.` } },
}

function ownTenant(caller: Caller, { tenant_id }: CreateWebhook): string {
  const tenant = tenant_id ?? caller.tenantId
  if (tenant === null)
    throw invalid('The body is not acceptable.', [
      { pointer: '/tenant_id', message: 'is required: the token names no tenant' },
    ])
  if (!scopeOf(caller).allTenants && tenant !== caller.tenantId)
    throw forbidden('A webhook can be made for your own tenant only.')
  return tenant
}

export const webhookRoutes = (deps: Deps) => (app: FastifyInstance) => {
  for (const set of [OF_PLATFORM, OF_TENANTS]) {
    webhooksOf(deps, set)(app)
    deliveriesOf(deps, set)(app)
  }
}

const webhookParams = Type.Object({ id: Id })

const webhooksOf = (deps: Deps, set: WebhookSet) =>
  routes(deps, { tag: 'Webhooks', guard: set.guard }, route => {
    const { base, named, ownerIn, about } = set

    route.list(
      base,
      {
        id: named('listWebhooks'),
        summary: 'List webhooks',
        description: `Newest first. ${about}`,
        filters: { tenant_id: Type.Optional(ExternalId) },
        items: Webhook,
        cursor: cursorOf('webhooks', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      ({ caller, scope, filter, limit, after }) => {
        refuseForeignTenant(caller, filter.tenant_id)
        return listWebhooks(deps.db, ownerIn(scope), filter.tenant_id, limit, after)
      },
    )

    route.post(
      base,
      {
        id: named('createWebhook'),
        summary: 'Create a webhook',
        description: `Events that happen from now on are sent to it, signed by the Standard Webhooks scheme with the \`secret\` that is shown here once. docs/webhooks.md says how to receive them. ${about}`,
        problems: set.createProblems,
        body: set.CreateBody,
        status: 201,
        data: WebhookWithSecret,
      },
      async ({ deps, caller, body, reply }) => {
        const webhook = await createWebhook(deps, caller.sub, set.tenantOf(caller, body), body)
        reply.header('location', `${base}/${webhook.id}`)
        return webhook
      },
    )

    route.get(
      `${base}/:id`,
      { id: named('getWebhook'), summary: 'Get a webhook', params: webhookParams, data: Webhook },
      async ({ scope, params }) => {
        const webhook = await findWebhook(deps.db, ownerIn(scope), params.id)
        if (!webhook) throw notFound()
        return webhook
      },
    )

    route.patch(
      `${base}/:id`,
      {
        id: named('changeWebhook'),
        summary: 'Update a webhook',
        description: 'Deliveries that are pending go to the new address.',
        params: webhookParams,
        body: set.UpdateBody,
        data: Webhook,
      },
      ({ deps, scope, params, body }) => changeWebhook(deps, ownerIn(scope), params.id, body),
    )

    route.delete(
      `${base}/:id`,
      {
        id: named('deleteWebhook'),
        summary: 'Delete a webhook',
        description: 'With the record of its deliveries; what is pending is not sent.',
        params: webhookParams,
        done: 'The webhook is gone.',
      },
      async ({ deps, scope, params }) => {
        if (!(await deleteWebhook(deps.db, ownerIn(scope), params.id))) throw notFound()
      },
    )

    route.post(
      `${base}/:id/rotate-secret`,
      {
        id: named('rotateWebhookSecret'),
        summary: 'Rotate a webhook’s secret',
        description:
          'The new secret is shown here once. The old one signs too for 24 hours, so that each message carries two signatures; the one before it no longer does.',
        params: webhookParams,
        body: NoBody,
        data: WebhookWithSecret,
      },
      ({ deps, scope, params }) => rotateSecret(deps, ownerIn(scope), params.id),
    )
  })

const deliveryParams = Type.Object({ ...webhookParams.properties, delivery_id: Id })
const queueProblems = { 409: { webhook_disabled: 'The webhook is switched off.' } }

const deliveriesOf = (deps: Deps, { base, guard, named, ownerIn }: WebhookSet) =>
  routes(deps, { tag: 'Webhooks', guard }, route => {
    route.post(
      `${base}/:id/test`,
      {
        id: named('testWebhook'),
        summary: 'Send a test event to a webhook',
        description: 'Queues a `webhook.test` event for it. 409 `webhook_disabled` while it is switched off.',
        problems: queueProblems,
        params: webhookParams,
        body: NoBody,
        status: 202,
        data: DeliveryDetail,
      },
      async ({ deps, scope, params, reply }) => {
        const { id, json } = await testWebhook(deps, ownerIn(scope), params.id)
        reply.header('location', `${base}/${params.id}/deliveries/${id}`)
        return new JsonText(json)
      },
    )

    route.list(
      `${base}/:id/deliveries`,
      {
        id: named('listWebhookDeliveries'),
        summary: 'List a webhook’s deliveries',
        description: 'Newest first; kept for 30 days.',
        params: webhookParams,
        filters: { status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])) },
        items: Delivery,
        cursor: cursorOf('webhook_deliveries', ['uuid']),
        key: (row: { id: string }) => [row.id],
      },
      async ({ scope, params, filter, limit, after }) => {
        if (!(await findWebhook(deps.db, ownerIn(scope), params.id))) throw notFound()
        return listDeliveries(deps.db, params.id, filter.status, limit, after)
      },
    )

    route.get(
      `${base}/:id/deliveries/:delivery_id`,
      {
        id: named('getWebhookDelivery'),
        summary: 'Get a delivery',
        description: 'With what is sent, and what came of each attempt.',
        params: deliveryParams,
        data: DeliveryDetail,
      },
      async ({ scope, params }) => {
        const json = await showDelivery(deps.db, ownerIn(scope), params.id, params.delivery_id)
        if (json === undefined) throw notFound()
        return new JsonText(json)
      },
    )

    route.post(
      `${base}/:id/deliveries/:delivery_id/replay`,
      {
        id: named('replayWebhookDelivery'),
        summary: 'Replay a delivery',
        description:
          'A new delivery of the same event under the same `webhook-id`, whatever became of the first. 409 `webhook_disabled` while the webhook is switched off.',
        problems: queueProblems,
        params: deliveryParams,
        body: NoBody,
        status: 202,
        data: DeliveryDetail,
      },
      async ({ deps, scope, params, reply }) => {
        const { id, json } = await replayDelivery(deps, ownerIn(scope), params.id, params.delivery_id)
        reply.header('location', `${base}/${params.id}/deliveries/${id}`)
        return new JsonText(json)
      },
    )
  })
