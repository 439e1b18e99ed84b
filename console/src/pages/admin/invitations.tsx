// Invitations into a tenant: made with a token that is shown once, taken back while they are pending.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filters } from '../../router.tsx'
import {
  announce,
  Badge,
  Confirm,
  Dialog,
  Field,
  Filters,
  Form,
  instantOf,
  Missing,
  Once,
  Page,
  Table,
  Time,
} from '../../ui/index.ts'
import { RoleField } from './role-field.tsx'

type Invitation = Schemas['Invitation']
type Created = Schemas['CreatedInvitation']

export default function Invitations() {
  const query = filters('email', 'tenant_id', 'status')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/invitations', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  const [inviting, setInviting] = useState(false)
  const [created, setCreated] = useState<Created>()
  const [revoked, setRevoked] = useState<Invitation>()
  return (
    <Page
      title="Invitations"
      operation="listInvitations"
      actions={
        <button type="button" class="primary" onClick={() => setInviting(true)}>
          Invite somebody
        </button>
      }
    >
      <Filters
        fields={[
          { name: 'email', label: 'E-mail (exact)', search: true },
          { name: 'tenant_id', label: 'Tenant' },
          { name: 'status', label: 'Status', options: ['pending', 'accepted', 'revoked', 'expired'] },
        ]}
      />
      <Table
        label="Invitations"
        list={list}
        id={({ id }) => id}
        empty="No invitation matches."
        columns={[
          { name: 'E-mail', cell: ({ email }) => email },
          { name: 'Tenant', cell: ({ tenant_id }) => tenant_id },
          { name: 'Role', cell: ({ role }) => role ?? <Missing /> },
          { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
          { name: 'Invited by', cell: ({ invited_by }) => invited_by },
          { name: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          { name: 'Accepted by', cell: ({ accepted_by }) => accepted_by ?? <Missing /> },
          {
            name: 'Actions',
            cell: invitation =>
              invitation.status === 'pending' && (
                <button
                  type="button"
                  class="plain"
                  aria-label={`Revoke that of ${invitation.email}`}
                  onClick={() => setRevoked(invitation)}
                >
                  Revoke
                </button>
              ),
          },
        ]}
      />
      {inviting && <Invite onClose={() => setInviting(false)} created={setCreated} reload={list.reload} />}
      {created && (
        <Once
          title={`${created.email} is invited to ${created.tenant_id}`}
          label="Invitation’s token"
          value={created.token}
          onClose={() => setCreated(undefined)}
        >
          <p>
            The service sends no mail: hand it over yourself. It is accepted under Administration, by whoever
            signs in to the tenant, until <Time at={created.expires_at} />.
          </p>
        </Once>
      )}
      {revoked && (
        <Confirm
          title={`Revoke the invitation of ${revoked.email}?`}
          act="Revoke"
          name={revoked.email}
          onClose={() => setRevoked(undefined)}
          run={async () => {
            const params = { path: { id: revoked.id } }
            await ok(api.DELETE('/api/v1/admin/invitations/{id}', { params }))
            announce(`The invitation of ${revoked.email} is revoked`)
            await list.reload()
          }}
        >
          <p>Its token is worth nothing from then on.</p>
        </Confirm>
      )}
    </Page>
  )
}

interface InviteProps {
  onClose: () => void
  created: (invitation: Created) => void
  reload: () => Promise<void>
}

const Invite = ({ onClose, created, reload }: InviteProps) => (
  <Dialog title="Invite somebody" onClose={onClose}>
    <Form
      submit="Invite"
      cancel={onClose}
      done={onClose}
      send={async ({ email = '', tenant_id = '', role = null, expires_at }) => {
        const body = { email, tenant_id, role, expires_at: instantOf(expires_at) ?? null }
        created((await ok(api.POST('/api/v1/admin/invitations', { body, headers: once() }))).data)
        await reload()
      }}
    >
      <Field label="E-mail" name="email" type="email" required />
      <Field label="Tenant" name="tenant_id" required maxLength={128} />
      <RoleField />
      <Field
        label="Expires"
        name="expires_at"
        type="datetime-local"
        help="At most 90 days ahead. Left empty: in 7 days."
      />
    </Form>
  </Dialog>
)
