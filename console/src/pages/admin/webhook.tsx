// One webhook: what it is told, its secret, and what became of each delivery.
import { useState } from 'preact/hooks'
import { useList, useQuery } from '../../query.ts'
import { filters, Link, navigate, to } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import {
  ActButton,
  announce,
  Badge,
  Confirm,
  Facts,
  Filters,
  Page,
  Section,
  Shown,
  Table,
  Time,
} from '../../ui/index.ts'
import { isOwnSet, mayWebhook, operationOf, setQuery, webhookCalls } from './webhook-calls.ts'
import { type Webhook, WebhookForm } from './webhook-form.tsx'
import { WebhookSecret, WebhookState } from './webhooks.tsx'

export default function WebhookPage({ params: { id = '' } }: PageProps) {
  const own = isOwnSet()
  const webhook = useQuery(signal => webhookCalls().get(id, signal), [id, own], { every: 15_000 })
  const query = filters('status')
  const deliveries = useList(
    (cursor, signal) => webhookCalls().deliveries(id, { ...query, cursor }, signal),
    [id, own, query],
    { every: 5_000 },
  )
  const found = webhook.data?.data
  return (
    <Page
      title={found?.description || found?.url || 'Webhook'}
      operation={own ? 'getOwnWebhook' : 'getWebhook'}
      actions={
        found && (
          <Acts
            webhook={found}
            reload={async () => void (await Promise.all([webhook.reload(), deliveries.reload()]))}
          />
        )
      }
    >
      <Shown query={webhook}>{({ data }) => <Fields webhook={data} />}</Shown>
      <Section title="Deliveries">
        <Filters
          fields={[{ name: 'status', label: 'Status', options: ['pending', 'delivered', 'failed'] }]}
        />
        <Table
          label="Deliveries, newest first"
          list={deliveries}
          id={delivery => delivery.id}
          empty="No delivery matches; they are kept for 30 days."
          columns={[
            {
              name: 'Event',
              cell: delivery => (
                <Link href={to`/admin/webhooks/${id}/${delivery.id}` + setQuery()}>
                  {delivery.event_type}
                </Link>
              ),
            },
            { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
            { name: 'Attempts', number: true, cell: ({ attempt_count }) => attempt_count },
            { name: 'Since', cell: ({ created_at }) => <Time at={created_at} seconds /> },
            { name: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} seconds /> },
            { name: 'Finished', cell: ({ finished_at }) => <Time at={finished_at} seconds /> },
          ]}
        />
      </Section>
    </Page>
  )
}

const Fields = ({ webhook }: { webhook: Webhook }) => (
  <Facts
    facts={[
      ['URL', webhook.url],
      ['Events', webhook.events.join(', ')],
      ['Tenant', webhook.tenant_id ?? 'all, and none'],
      ['State', <WebhookState key="state" webhook={webhook} />],
      ...(webhook.disabled_reason
        ? ([['Why it is off', webhook.disabled_reason]] as [string, string][])
        : []),
      ['Created by', webhook.created_by],
      ['Created', <Time key="created" at={webhook.created_at} />],
      [
        'The secret before signs until',
        webhook.previous_secret_expires_at && <Time key="until" at={webhook.previous_secret_expires_at} />,
      ],
    ]}
  />
)

function Acts({ webhook, reload }: { webhook: Webhook; reload: () => Promise<void> }) {
  const { id, url } = webhook
  const [opened, setOpened] = useState<'edit' | 'rotate' | 'delete'>()
  const [secret, setSecret] = useState<string>()
  const close = () => setOpened(undefined)
  return (
    <>
      <ActButton
        operation={operationOf('testWebhook')}
        done="A test event is on its way"
        run={async () => {
          await webhookCalls().test(id)
          await reload()
        }}
      >
        Send a test
      </ActButton>
      {mayWebhook('changeWebhook') && (
        <button type="button" onClick={() => setOpened('edit')}>
          Edit
        </button>
      )}
      {mayWebhook('rotateWebhookSecret') && (
        <button type="button" onClick={() => setOpened('rotate')}>
          Rotate the secret
        </button>
      )}
      {mayWebhook('deleteWebhook') && (
        <button type="button" onClick={() => setOpened('delete')}>
          Delete
        </button>
      )}
      {opened === 'edit' && <WebhookForm webhook={webhook} onClose={close} reload={reload} />}
      {opened === 'rotate' && (
        <Confirm
          title="Rotate the secret?"
          act="Rotate"
          onClose={close}
          run={async () => {
            setSecret((await webhookCalls().rotate(id)).data.secret)
            await reload()
          }}
        >
          <p>The present one signs too for 24 hours; the one before it no longer does.</p>
        </Confirm>
      )}
      {opened === 'delete' && (
        <Confirm
          title="Delete the webhook?"
          act="Delete"
          name={url}
          onClose={close}
          run={async () => {
            await webhookCalls().remove(id)
            announce('The webhook is deleted')
            navigate(`/admin/webhooks${setQuery()}`)
          }}
        >
          <p>The record of its deliveries goes with it, and what is pending is not sent.</p>
        </Confirm>
      )}
      {secret && <WebhookSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}
