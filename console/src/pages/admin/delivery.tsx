// One delivery of a webhook: what was sent, what came of each attempt, and once more.
import { useQuery } from '../../query.ts'
import { Link, navigate, to } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { ActButton, Badge, Empty, Facts, Json, Page, Section, Shown, Time, Timeline } from '../../ui/index.ts'
import { isOwnSet, operationOf, setQuery, webhookCalls } from './webhook-calls.ts'

export default function DeliveryPage({ params: { id = '', delivery = '' } }: PageProps) {
  const own = isOwnSet()
  const query = useQuery(signal => webhookCalls().delivery(id, delivery, signal), [id, delivery, own], {
    every: 5_000,
  })
  const found = query.data?.data
  return (
    <Page
      title={found ? `Delivery of ${found.event_type}` : 'Delivery'}
      operation={own ? 'getOwnWebhookDelivery' : 'getWebhookDelivery'}
      actions={
        found && (
          <ActButton
            operation={operationOf('replayWebhookDelivery')}
            done="It is sent once more, as this delivery"
            run={async () => {
              const { data } = await webhookCalls().replay(id, delivery)
              navigate(to`/admin/webhooks/${id}/${data.id}` + setQuery())
            }}
          >
            Replay
          </ActButton>
        )
      }
    >
      <Shown query={query}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                ['Status', <Badge key="status">{data.status}</Badge>],
                [
                  'Webhook',
                  <Link key="webhook" href={to`/admin/webhooks/${id}` + setQuery()}>
                    {id}
                  </Link>,
                ],
                ['Event’s id', data.event_id],
                ['Tenant', data.tenant_id],
                ['Since', <Time key="since" at={data.created_at} seconds />],
                ['Finished', <Time key="finished" at={data.finished_at} seconds />],
                ['Next attempt', <Time key="next" at={data.next_attempt_at} seconds />],
              ]}
            />
            <div class="columns">
              <Section title="Attempts">
                {data.attempts.length === 0 && <Empty>None yet.</Empty>}
                <Timeline
                  label="Attempts, in order"
                  items={data.attempts.map(attempt => ({
                    key: String(attempt.number),
                    at: attempt.started_at,
                    tone: wasTaken(attempt.status_code) ? 'good' : 'bad',
                    title: (
                      <>
                        {attempt.status_code ? `Answered ${attempt.status_code}` : 'No answer'}{' '}
                        <span class="quiet">in {attempt.duration_ms} ms</span>
                      </>
                    ),
                    body: (
                      <>
                        {attempt.error && <p class="bad words">{attempt.error}</p>}
                        {attempt.response_body && <p class="words">{attempt.response_body}</p>}
                      </>
                    ),
                  }))}
                />
              </Section>
              <Section title="What is sent">
                <Json label="Message" value={data.event} />
              </Section>
            </div>
          </>
        )}
      </Shown>
    </Page>
  )
}

const wasTaken = (status: number | null) => status !== null && status >= 200 && status < 300
