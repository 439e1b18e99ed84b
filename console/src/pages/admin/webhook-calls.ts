// There are two sets of webhooks with the same operations: the platform's, and those of tenants. Members have their own;
// a platform_admin chooses by the address (`?set=tenants`).
import { api, ok, type Schemas } from '../../api.ts'
import { filter } from '../../router.tsx'
import { may, type OperationId, session } from '../../session.tsx'

export const choosesSet = () => session.value!.kind === 'platform_admin'

/** Whether the page shows the tenants' set. */
export const isOwnSet = () => !choosesSet() || filter('set') === 'tenants'

/** Put behind the links from one page of a set to another. */
export const setQuery = () => (choosesSet() && filter('set') ? `?set=${filter('set')}` : '')

type Both =
  | 'createWebhook'
  | 'changeWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'replayWebhookDelivery'

/** The operation of the set that is shown: those of tenants say `Own`. */
export const operationOf = (operation: Both): OperationId =>
  isOwnSet() ? (operation.replace('Webhook', 'OwnWebhook') as OperationId) : operation

export const mayWebhook = (operation: Both) => may(operationOf(operation))

/** The calls of the set that is shown. */
export function webhookCalls() {
  // Both have the same answers, and take the same bodies but for the events that are no tenant's: the API checks those.
  const base = (isOwnSet() ? '/api/v1/webhooks' : '/api/v1/admin/webhooks') as '/api/v1/admin/webhooks'
  const at = (id: string) => ({ params: { path: { id } } })
  return {
    list: (query: { tenant_id?: string; cursor?: string | undefined }, signal: AbortSignal) =>
      ok(api.GET(base, { params: { query }, signal })),
    create: (body: Schemas['CreateWebhook']) => ok(api.POST(base, { body })),
    get: (id: string, signal: AbortSignal) => ok(api.GET(`${base}/{id}`, { ...at(id), signal })),
    change: (id: string, body: Schemas['UpdateWebhook']) =>
      ok(api.PATCH(`${base}/{id}`, { ...at(id), body })),
    remove: (id: string) => ok(api.DELETE(`${base}/{id}`, at(id))),
    rotate: (id: string) => ok(api.POST(`${base}/{id}/rotate-secret`, at(id))),
    test: (id: string) => ok(api.POST(`${base}/{id}/test`, at(id))),
    deliveries: (
      id: string,
      query: { status?: Schemas['Delivery']['status']; cursor?: string | undefined },
      signal: AbortSignal,
    ) => ok(api.GET(`${base}/{id}/deliveries`, { params: { path: { id }, query }, signal })),
    delivery: (id: string, delivery_id: string, signal: AbortSignal) =>
      ok(api.GET(`${base}/{id}/deliveries/{delivery_id}`, { params: { path: { id, delivery_id } }, signal })),
    replay: (id: string, delivery_id: string) =>
      ok(api.POST(`${base}/{id}/deliveries/{delivery_id}/replay`, { params: { path: { id, delivery_id } } })),
  }
}
