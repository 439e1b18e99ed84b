// A webhook is made or changed: where events are sent, and which.
import type { Schemas } from '../../api.ts'
import { session } from '../../session.tsx'
import { announce, Choices, chosen, Dialog, Field, Form, type Values } from '../../ui/index.ts'
import { isOwnSet, webhookCalls } from './webhook-calls.ts'

export type Webhook = Schemas['Webhook']
type Event = Schemas['CreateWebhook']['events'][number]
type TenantEvent = Schemas['CreateOwnWebhook']['events'][number]

// Every one that the API has: the compiler notices when one is missing or gone.
const TENANT_EVENTS = {
  '*': 1,
  'deployment.*': 1,
  'deployment.transitioned': 1,
  'resource.*': 1,
  'resource.discovered': 1,
  'resource.updated': 1,
  'resource.deleted': 1,
  'resource.restored': 1,
  'resource.drift_detected': 1,
  'resource.tagged': 1,
  'resource.missing': 1,
  'drift.*': 1,
  'drift.opened': 1,
  'drift.accepted': 1,
  'drift.stale': 1,
  'saga.*': 1,
  'saga.completed': 1,
  'saga.failed': 1,
  'saga.rolled_back': 1,
  'statement.*': 1,
  'statement.closed': 1,
  'budget.*': 1,
  'budget.threshold_reached': 1,
  'cost.*': 1,
  'cost.unusual_day': 1,
  'finding.*': 1,
  'finding.opened': 1,
  'finding.closed': 1,
} satisfies Record<TenantEvent, 1>

const EVENTS = {
  ...TENANT_EVENTS,
  'invoice.*': 1,
  'invoice.ingested': 1,
  'invoice.ingest_failed': 1,
  'invoice.pushed': 1,
  'audit.*': 1,
  'audit.checkpoint': 1,
} satisfies Record<Event, 1>

interface Props {
  webhook?: Webhook
  onClose: () => void
  reload: () => Promise<void>
  /** Is given the new one with its secret. */
  created?: (webhook: Schemas['WebhookWithSecret']) => void
}

export function WebhookForm({ webhook, onClose, reload, created }: Props) {
  const own = isOwnSet()
  const needsTenant = own && !webhook && session.value!.tenant_id === null
  const calls = webhookCalls()
  const send = async (values: Values) => {
    const { url = '', description = null, tenant_id, enabled } = values
    const events = chosen<Event>(values, 'events')
    const body = { url, description, events, enabled: enabled === 'on' }
    const tenant = own ? tenant_id && { tenant_id } : { tenant_id: tenant_id ?? null }
    if (webhook) {
      await calls.change(webhook.id, own ? body : { ...body, ...tenant })
      announce('The webhook is changed')
    } else created?.((await calls.create({ ...body, ...tenant })).data)
    await reload()
  }
  return (
    <Dialog title={webhook ? 'Edit the webhook' : 'Create a webhook'} onClose={onClose}>
      <Form submit={webhook ? 'Save' : 'Create'} cancel={onClose} done={onClose} send={send}>
        <Field
          label="URL"
          name="url"
          type="url"
          required
          maxLength={2048}
          value={webhook?.url ?? ''}
          help="https, and not a private address."
        />
        <Field label="Description" name="description" maxLength={255} value={webhook?.description ?? ''} />
        {(!own || needsTenant) && (
          <Field
            label="Tenant"
            name="tenant_id"
            maxLength={128}
            required={needsTenant}
            value={webhook?.tenant_id ?? ''}
            help={own ? 'Whose it is.' : 'Only events of this tenant. Left empty: of all, and of none.'}
          />
        )}
        <Choices
          label="Events"
          name="events"
          options={Object.keys(own ? TENANT_EVENTS : EVENTS)}
          value={webhook?.events ?? ['*']}
        />
        <Field
          label="Switched on"
          name="enabled"
          type="checkbox"
          value={webhook?.enabled === false ? '' : 'on'}
          help="While it is off nothing is kept for it, and what is pending waits."
        />
      </Form>
    </Dialog>
  )
}
