// One resource: what it is now or was at a moment, what it should be, what happened to it, what belongs to it, whose it was,
// and what it cost.
import { api, ok, type Schemas } from '../api.ts'
import { type List, useList, useQuery } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import {
  Badge,
  Diff,
  Empty,
  Facts,
  Json,
  Missing,
  Money,
  Page,
  PagedTimeline,
  Section,
  Shown,
  Table,
  Time,
  Timeline,
  type TimelineItem,
} from '../ui/index.ts'
import { DesiredState } from './desired-state.tsx'
import { at, Moment, shownMoment } from './moment.tsx'
import { FindingsOf } from './resource/findings.tsx'
import { RelationsOf } from './resource/relations.tsx'

type Resource = Schemas['ResourceDetail']
type Drift = Schemas['Drift']
type ResourceEvent = Schemas['ResourceEvent']

export default function ResourcePage({ params: { id = '' } }: PageProps) {
  const moment = shownMoment()
  const query = filters('at')
  // What was stays as it was.
  const polling = moment ? {} : { every: 15_000 }
  const resource = useQuery(
    signal => ok(api.GET('/api/v1/inventory/{id}', { params: { path: { id }, query }, signal })),
    [id, query],
    polling,
  )
  const owners = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/{id}/owners', { params: { path: { id }, query: { cursor } }, signal })),
    [id],
    { every: 60_000 },
  )
  const found = resource.data?.data
  return (
    <Page title={found ? found.name || found.id : 'Resource'} operation="getResource">
      <Moment since={owners.rows.at(-1)?.valid_from} />
      <Shown query={resource}>
        {({ data }) => (
          <>
            <Fields resource={data} moment={moment} />
            {!moment && <FindingsOf id={id} />}
            {moment ? (
              <Then resource={data} />
            ) : (
              <div class="columns">
                <History id={id} />
                <div>
                  <DriftOf resource={data} />
                  <DesiredState resource={data} reload={resource.reload} />
                  <Attributes resource={data} />
                </div>
              </div>
            )}
            {!moment && !data.deleted_at && <RelationsOf id={id} />}
            <Owners owners={owners} />
            <Costs id={id} />
          </>
        )}
      </Shown>
    </Page>
  )
}

const Attributes = ({ resource }: { resource: Resource }) => (
  <Section title="What the provider says">
    <Json label="Attributes" value={resource.attrs} />
  </Section>
)

/** Of a moment in the past: nothing to act on. */
const Then = ({ resource }: { resource: Resource }) => (
  <div class="columns">
    <Section title="History until then">
      <Timeline
        label="Latest events until then, newest first"
        items={resource.events.toReversed().map(eventItem)}
      />
    </Section>
    <div>
      <Attributes resource={resource} />
      <Empty>
        What was desired of it, and what belonged to it, is not kept.{' '}
        <Link href={to`/inventory/${resource.id}`}>As it is now</Link>
      </Empty>
    </div>
  </div>
)

function Fields({ resource, moment }: { resource: Resource; moment: string | undefined }) {
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
        [
          'Project',
          project_id && <Link href={at(`/inventory?project_id=${project_id}`, moment)}>{project_id}</Link>,
        ],
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

const TONES: Partial<Record<ResourceEvent['kind'], TimelineItem['tone']>> = {
  discovered: 'good',
  restored: 'good',
  deleted: 'bad',
  drift_detected: 'busy',
}

const eventItem = ({
  id,
  resource_id,
  kind,
  actor,
  action,
  changes,
  created_at,
}: ResourceEvent): TimelineItem => ({
  key: id,
  at: created_at,
  title: (
    <>
      {kind.replaceAll('_', ' ')}{' '}
      <span class="quiet">
        by {actor}
        {action && `, as the provider’s ${action.type}`}
      </span>{' '}
      <Link
        href={at(to`/inventory/${resource_id}`, created_at)}
        aria-label={`then, after ${kind} at ${created_at}`}
      >
        then
      </Link>
    </>
  ),
  ...(TONES[kind] && { tone: TONES[kind] }),
  body: changes && <Diff changes={changes} />,
})

function History({ id }: { id: string }) {
  const events = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/{id}/events', { params: { path: { id }, query: { cursor } }, signal })),
    [id],
    { every: 15_000 },
  )
  return (
    <Section title="History">
      <PagedTimeline
        label="Events, newest first"
        list={events}
        item={eventItem}
        empty="Nothing has happened to it yet."
        more="Earlier"
      />
    </Section>
  )
}

function Owners({ owners }: { owners: List<Schemas['ResourceOwners']> }) {
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
