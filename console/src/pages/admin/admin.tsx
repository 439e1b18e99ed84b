// Who is signed in and until when, and where administration goes on.
import { api, ok } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { may, session } from '../../session.tsx'
import { announce, Facts, Field, Form, Page, Section, Time } from '../../ui/index.ts'
import { administration } from './routes.ts'

const ABOUT: Record<string, string> = {
  '/admin/tasks': 'What runs by itself and when; run it now, pause it.',
  '/admin/dead-letters': 'Jobs that failed at their last attempt.',
  '/admin/users': 'The directory: who may come in, with which role.',
  '/admin/roles': 'What the roles of tokens permit.',
  '/admin/invitations': 'Into a tenant, by a token that works once.',
  '/admin/api-keys': 'For scripts, in place of a token.',
  '/admin/secrets': 'Provider tokens and the like: written, never shown.',
  '/admin/webhooks': 'Who is told of what happens, and what they answered.',
  '/admin/storage': 'Where raw invoice files are kept.',
  '/admin/audit': 'Who changed what, and whether the log has been touched.',
}

export default function Administration() {
  const overview = useQuery(signal => ok(api.GET('/api/v1/overview', { signal })), [], {
    every: 30_000,
    when: may('listScheduledTasks') || may('listDeadLetters'),
  })
  const { scheduled_tasks, dead_letters } = overview.data?.data ?? {}
  const failed = scheduled_tasks?.failed ?? 0
  const wrong: Record<string, string | false> = {
    '/admin/tasks': failed > 0 && `${failed} failed last time`,
    '/admin/dead-letters': (dead_letters ?? 0) > 0 && `${dead_letters} waiting`,
  }
  const pages = administration.filter(
    ({ nav, within, operation }) => nav && within === '/admin' && may(operation),
  )
  return (
    <Page title="Administration" operation="getSession">
      <ul class="cards plain-list">
        {pages.map(({ path, nav }) => (
          <li key={path} class="card">
            <Link href={path}>{nav}</Link>
            <p class="quiet">{ABOUT[path]}</p>
            {wrong[path] && <p class="bad">{wrong[path]}</p>}
          </li>
        ))}
      </ul>
      <YourSession />
      {may('acceptInvitation') && <Accept />}
    </Page>
  )
}

function YourSession() {
  const { sub, tenant_id, kind, roles, permissions, expires_at } = session.value!
  return (
    <Section title="Your session">
      <Facts
        facts={[
          ['Signed in as', sub],
          ['Tenant', tenant_id],
          ['Kind', kind.replace('_', ' ')],
          ['Roles', roles.join(', ')],
          ['Ends', <Time key="ends" at={expires_at} seconds />],
          ['Permissions', kind === 'platform_admin' ? 'all' : permissions.join(', ')],
        ]}
      />
      <p class="quiet">
        It ends with the token it was started with, or when you sign out. Being idle does not end it.
      </p>
    </Section>
  )
}

function Accept() {
  return (
    <Section title="Accept an invitation">
      <Form
        submit="Accept"
        send={async ({ token = '' }) => {
          const { data } = await ok(api.POST('/api/v1/invitations/accept', { body: { token } }))
          announce(`You are a user of ${data.tenant_id} now`)
        }}
      >
        <Field label="Invitation’s token" name="token" required help="As whoever invited you was shown it." />
      </Form>
    </Section>
  )
}
