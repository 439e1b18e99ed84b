// One deployment: where it stands and may go, what it is subscribed to, what it used, what it runs on.
import { api, ok, type Schemas } from '../api.ts'
import { useList, useQuery } from '../query.ts'
import { Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import {
  Badge,
  Empty,
  Facts,
  Loading,
  Page,
  ProblemBanner,
  Section,
  Shown,
  Time,
  Timeline,
} from '../ui/index.ts'
import { BillingActions, EditDeployment } from './deployment/edit.tsx'
import { Lifecycle } from './deployment/lifecycle.tsx'
import { Moves } from './deployment/moves.tsx'
import { Provisioning } from './deployment/provisioning.tsx'
import { Statements } from './deployment/statements.tsx'
import { Subscription } from './deployment/subscription.tsx'
import { Usage } from './deployment/usage.tsx'

type Deployment = Schemas['DeploymentDetail']

export default function DeploymentPage({ params: { id = '' } }: PageProps) {
  const deployment = useQuery(
    signal => ok(api.GET('/api/v1/deployments/{id}', { params: { path: { id } }, signal })),
    [id],
    { every: 15_000 },
  )
  const lifecycle = useQuery(signal => ok(api.GET('/api/v1/deployments/lifecycle', { signal })), [])
  const found = deployment.data?.data
  const reload = deployment.reload
  return (
    <Page
      title={found ? found.display_name : 'Deployment'}
      operation="getDeployment"
      actions={found && <EditDeployment deployment={found} done={reload} />}
    >
      <Shown query={deployment}>
        {({ data }) => (
          <>
            <Fields deployment={data} />
            <div class="columns">
              <Section title="State">
                <Shown query={lifecycle}>
                  {({ data: map }) => (
                    <div class="state">
                      <Lifecycle map={map} state={data.state} allowed={data.allowed_transitions} />
                      <div>
                        <Moves map={map} deployment={data} done={reload} />
                        <BillingActions deployment={data} done={reload} />
                      </div>
                    </div>
                  )}
                </Shown>
              </Section>
              <Subscription deployment={data} done={reload} />
            </div>
            <Usage id={id} subscription={data.subscription} />
            <Statements id={id} />
            <Provisioning deployment={data} />
            <Events id={id} latest={data.events.at(-1)?.id} />
          </>
        )}
      </Shown>
    </Page>
  )
}

function Fields({ deployment }: { deployment: Deployment }) {
  const { id, tenant_id, slug, state, region, llm_mode, template_code, template_version } = deployment
  const template = [template_code, template_version].filter(Boolean).join(' ')
  return (
    <Facts
      facts={[
        ['State', <Badge key="state">{state}</Badge>],
        ['Slug', slug],
        ...(seesAllTenants()
          ? [
              ['Tenant', <Link href={to`/deployments?tenant_id=${tenant_id}`}>{tenant_id}</Link>] as [
                string,
                preact.JSX.Element,
              ],
            ]
          : []),
        ['Region', region],
        ['LLM mode', llm_mode],
        ['Template', template],
        ['Created', <Time key="created" at={deployment.created_at} />],
        ['Id', <code key="id">{id}</code>],
      ]}
    />
  )
}

function Events({ id, latest }: { id: string; latest: string | undefined }) {
  const events = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/deployments/{id}/events', { params: { path: { id }, query: { cursor } }, signal })),
    [id],
    // Read again when the deployment has been moved.
    { when: may('listDeploymentEvents'), again: latest },
  )
  return (
    <Section title="Events">
      {events.problem && <ProblemBanner problem={events.problem} retry={events.reload} />}
      {events.loading && <Loading />}
      {!events.loading && !events.problem && events.rows.length === 0 && (
        <Empty>It has been in one state since it was created.</Empty>
      )}
      <Timeline
        label="Moves, newest first"
        items={events.rows.map(({ id: key, from_state, to_state, actor, reason, created_at }) => ({
          key,
          at: created_at,
          title: (
            <>
              {words(from_state)} → <Badge>{to_state}</Badge> <span class="quiet">by {actor}</span>
            </>
          ),
          body: reason && <p>{reason}</p>,
        }))}
      />
      {events.more && (
        <button type="button" disabled={events.loadingMore} onClick={events.more}>
          Earlier
        </button>
      )}
    </Section>
  )
}

const words = (state: string) => state.replaceAll('_', ' ')
