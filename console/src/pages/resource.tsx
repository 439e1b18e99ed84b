// One resource: what it is now, what it should be, what happened to it, whose it was, and what it cost.
import { api, ok, type Schemas } from '../api.ts'
import { type List, useList, useQuery } from '../query.ts'
import { Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import {
  Badge,
  Diff,
  Empty,
  Facts,
  Json,
  Loading,
  Missing,
  Money,
  Page,
  ProblemBanner,
  Section,
  Shown,
  Table,
  Time,
  Timeline,
  type TimelineItem,
} from '../ui/index.ts'
import { DesiredState } from './desired-state.tsx'

type Resource = Schemas['ResourceDetail']
type Drift = Schemas['Drift']

export default function ResourcePage({ params: { id = '' } }: PageProps) {
  const resource = useQuery(
    signal => ok(api.GET('/api/v1/inventory/{id}', { params: { path: { id } }, signal })),
    [id],
    { every: 15_000 },
  )
  const events = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/{id}/events', { params: { path: { id }, query: { cursor } }, signal })),
    [id],
    { every: 15_000 },
  )
  const found = resource.data?.data
  return (
    <Page title={found ? found.name || found.id : 'Resource'} operation="getResource">
      <Shown query={resource}>
        {({ data }) => (
          <>
            <Fields resource={data} />
            <div class="columns">
              <History events={events} />
              <div>
                <DriftOf resource={data} />
                <DesiredState resource={data} reload={resource.reload} />
                <Section title="What the provider says">
                  <Json label="Attributes" value={data.attrs} />
                </Section>
              </div>
            </div>
            <Owners id={id} />
            <Costs id={id} />
          </>
        )}
      </Shown>
    </Page>
  )
}

function Fields({ resource }: { resource: Resource }) {
  const {
    kind,
    status,
    deleted_at,
    region,
    tenant_id,
    project_id,
    deployment_id,
    tags,
    stale_strike_count,
    missing_since,
  } = resource
  return (
    <Facts
      facts={[
        ['Kind', kind.replaceAll('_', ' ')],
        ['Status', <Badge key="status">{deleted_at ? 'deleted' : status}</Badge>],
        ['Region', region],
        ['Tenant', tenant_id],
        [
          'Deployment',
          deployment_id && <Link href={to`/deployments/${deployment_id}`}>{deployment_id}</Link>,
        ],
        ['Project', project_id && <Link href={`/inventory?project_id=${project_id}`}>{project_id}</Link>],
        ['Tags', tags.join(', ')],
        ['Provider’s id', resource.provider_id],
        ['First seen', <Time key="first" at={resource.first_seen_at} />],
        ['Last seen', <Time key="last" at={resource.last_seen_at} />],
        ['Sweeps that missed it', stale_strike_count > 0 ? String(stale_strike_count) : 'none'],
        ...(missing_since
          ? [['Missing since', <Time key="missing" at={missing_since} />] as [string, preact.JSX.Element]]
          : []),
        ...(deleted_at
          ? [['Deleted', <Time key="deleted" at={deleted_at} />] as [string, preact.JSX.Element]]
          : []),
      ]}
    />
  )
}

function DriftOf({ resource }: { resource: Resource }) {
  const drift = resource.drift as Drift[]
  const changes = Object.fromEntries(
    drift.map(({ field, desired, actual }) => [field, { before: desired, after: actual }]),
  )
  return (
    <Section
      title="Drift"
      actions={
        drift.length > 0 &&
        may('listDrift') && <Link href={to`/drift?resource_id=${resource.id}`}>Accept or ignore</Link>
      }
    >
      {drift.length > 0 ? (
        <Diff changes={changes} names={['Desired', 'Actual']} />
      ) : (
        <Empty>{resource.desired_state ? 'It is as it should be.' : 'Nothing to differ from.'}</Empty>
      )}
    </Section>
  )
}

const TONES: Partial<Record<Schemas['ResourceEvent']['kind'], TimelineItem['tone']>> = {
  discovered: 'good',
  restored: 'good',
  deleted: 'bad',
  drift_detected: 'busy',
}

type Events = List<Schemas['ResourceEvent']>

const History = ({ events }: { events: Events }) => (
  <Section title="History">
    {events.problem && <ProblemBanner problem={events.problem} retry={events.reload} />}
    {events.loading && <Loading />}
    <Timeline
      label="Events, newest first"
      items={events.rows.map(({ id: key, kind, actor, changes, created_at }) => ({
        key,
        at: created_at,
        title: (
          <>
            {kind.replaceAll('_', ' ')} <span class="quiet">by {actor}</span>
          </>
        ),
        ...(TONES[kind] && { tone: TONES[kind] }),
        body: changes && <Diff changes={changes} />,
      }))}
    />
    {events.more && (
      <button type="button" disabled={events.loadingMore} onClick={events.more}>
        Earlier
      </button>
    )}
  </Section>
)

function Owners({ id }: { id: string }) {
  const owners = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/{id}/owners', { params: { path: { id }, query: { cursor } }, signal })),
    [id],
    { every: 60_000 },
  )
  return (
    <Section title="Owners">
      <Table
        label="Owners, newest first"
        list={owners}
        id={({ valid_from }) => valid_from}
        empty="Nobody had it."
        columns={[
          { name: 'From', cell: ({ valid_from }) => <Time at={valid_from} /> },
          { name: 'To', cell: ({ valid_to }) => (valid_to ? <Time at={valid_to} /> : 'now') },
          { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
          {
            name: 'Deployment',
            cell: ({ deployment_id }) =>
              deployment_id ? (
                <Link href={to`/deployments/${deployment_id}`}>{deployment_id}</Link>
              ) : (
                <Missing />
              ),
          },
          { name: 'Project', cell: ({ project_id }) => project_id ?? <Missing /> },
        ]}
      />
    </Section>
  )
}

function Costs({ id }: { id: string }) {
  const whole = seesAllTenants()
  const allowed = may(whole ? 'listCostLines' : 'listOwnCostLines')
  const lines = useList(
    (cursor, signal) => {
      const options = { params: { query: { resource_id: id, cursor } }, signal }
      return ok(
        whole ? api.GET('/api/v1/billing/cost-lines', options) : api.GET('/api/v1/costs/lines', options),
      )
    },
    [id],
    { when: allowed },
  )
  if (!allowed) return null
  return (
    <Section title="Cost lines">
      <Table
        label="Cost lines"
        list={lines}
        id={line => line.id}
        empty="No invoice names it yet."
        columns={[
          { name: 'Month', cell: ({ period }) => period.slice(0, 7) },
          { name: 'What', cell: ({ description }) => description },
          { name: 'Hours', number: true, cell: ({ hours }) => hours },
          {
            name: 'Amount',
            number: true,
            cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
          },
        ]}
      />
    </Section>
  )
}
