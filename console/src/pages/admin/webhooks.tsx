// Who is told of what happens: the platform's webhooks, or those of tenants.
import { useState } from 'preact/hooks'
import type { Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filters, Link, to } from '../../router.tsx'
import { seesAllTenants } from '../../session.tsx'
import {
  Badge,
  type Column,
  type FilterField,
  Filters,
  Missing,
  Once,
  Page,
  Table,
  Time,
} from '../../ui/index.ts'
import { choosesSet, isOwnSet, mayWebhook, setQuery, webhookCalls } from './webhook-calls.ts'
import { type Webhook, WebhookForm } from './webhook-form.tsx'

const fields = (): FilterField[] => [
  ...(choosesSet()
    ? [
        {
          name: 'set',
          label: 'Whose',
          options: [{ value: 'tenants', text: 'tenants’' }],
          any: 'the platform’s',
        },
      ]
    : []),
  { name: 'tenant_id', label: 'Tenant', search: true },
]

const columns = (): (Column<Webhook> | false)[] => [
  { name: 'URL', cell: ({ id, url }) => <Link href={to`/admin/webhooks/${id}` + setQuery()}>{url}</Link> },
  { name: 'Description', cell: ({ description }) => description ?? <Missing /> },
  { name: 'Events', cell: ({ events }) => events.join(', ') },
  seesAllTenants() && {
    name: 'Tenant',
    cell: ({ tenant_id }) => tenant_id ?? <span class="quiet">all</span>,
  },
  { name: 'State', cell: webhook => <WebhookState webhook={webhook} /> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

export const WebhookState = ({ webhook: { enabled, disabled_reason } }: { webhook: Webhook }) => (
  <Badge tone={enabled ? 'good' : disabled_reason ? 'bad' : 'quiet'}>{enabled ? 'on' : 'off'}</Badge>
)

export default function Webhooks() {
  const query = filters('tenant_id')
  const own = isOwnSet()
  const list = useList((cursor, signal) => webhookCalls().list({ ...query, cursor }, signal), [query, own], {
    every: 30_000,
  })
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<Schemas['WebhookWithSecret']>()
  return (
    <Page
      title="Webhooks"
      operation={own ? 'listOwnWebhooks' : 'listWebhooks'}
      actions={
        mayWebhook('createWebhook') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create a webhook
          </button>
        )
      }
    >
      {seesAllTenants() && <Filters fields={fields()} />}
      <Table
        label="Webhooks"
        list={list}
        id={({ id }) => id}
        empty="There is none. One is told of deployments, resources, drift and sagas as things happen."
        columns={columns()}
      />
      {creating && (
        <WebhookForm onClose={() => setCreating(false)} reload={list.reload} created={setCreated} />
      )}
      {created && <WebhookSecret secret={created.secret} onClose={() => setCreated(undefined)} />}
    </Page>
  )
}

export const WebhookSecret = ({ secret, onClose }: { secret: string; onClose: () => void }) => (
  <Once title="The webhook’s secret" label="Secret" value={secret} onClose={onClose}>
    <p>What is sent is signed with it by the Standard Webhooks scheme: the receiver checks it.</p>
  </Once>
)
