// The directory: who may come in, to which tenant, with which role.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filters, Link, to } from '../../router.tsx'
import {
  ActButton,
  announce,
  Badge,
  type Column,
  Confirm,
  Dialog,
  Field,
  Filters,
  Form,
  Missing,
  Page,
  Table,
  type Values,
} from '../../ui/index.ts'
import { RoleField } from './role-field.tsx'

type User = Schemas['User']
type Opened = { act: 'edit' | 'suspend' | 'remove'; user: User }

export default function Users() {
  const query = filters('email', 'tenant_id', 'role', 'status')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/users', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  const [adding, setAdding] = useState(false)
  const [opened, setOpened] = useState<Opened>()
  return (
    <Page
      title="Users"
      operation="listUsers"
      actions={
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          Add a user
        </button>
      }
    >
      <Filters
        fields={[
          { name: 'email', label: 'E-mail (exact)', search: true },
          { name: 'tenant_id', label: 'Tenant' },
          { name: 'role', label: 'Role' },
          { name: 'status', label: 'Status', options: ['active', 'suspended'] },
        ]}
      />
      <Table
        label="Users"
        list={list}
        id={({ tenant_id, id }) => JSON.stringify([tenant_id, id])}
        empty="Nobody matches. Callers who are not in the directory work all the same."
        columns={columns(setOpened, list.reload)}
      />
      {adding && <Add onClose={() => setAdding(false)} reload={list.reload} />}
      {opened && <Act {...opened} onClose={() => setOpened(undefined)} reload={list.reload} />}
    </Page>
  )
}

const columns = (open: (opened: Opened) => void, reload: () => Promise<void>): Column<User>[] => [
  { name: 'User', cell: ({ id }) => id },
  { name: 'Tenant', cell: ({ tenant_id }) => tenant_id },
  { name: 'Role', cell: ({ role }) => role ?? <Missing /> },
  { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  { name: 'Name', cell: ({ display_name }) => display_name ?? <Missing /> },
  { name: 'E-mail', cell: ({ email }) => email ?? <Missing /> },
  {
    name: 'Actions',
    cell: user => {
      const button = (act: Opened['act'], word: string) => (
        <button
          type="button"
          class="plain"
          aria-label={`${word} ${user.id}`}
          onClick={() => open({ act, user })}
        >
          {word}
        </button>
      )
      return (
        <span class="acts">
          {button('edit', 'Edit')}
          {user.status === 'active' ? (
            button('suspend', 'Suspend')
          ) : (
            <ActButton
              class="plain"
              operation="changeUser"
              label={`Activate ${user.id}`}
              done={`${user.id} is active`}
              run={async () => {
                await change(user, { status: 'active' })
                await reload()
              }}
            >
              Activate
            </ActButton>
          )}
          <Link href={to`/admin/api-keys?user_id=${user.id}`} aria-label={`Keys of ${user.id}`}>
            Keys
          </Link>
          {button('remove', 'Remove')}
        </span>
      )
    },
  },
]

const named = ({ id, tenant_id }: User) => ({ path: { user_id: id }, query: { tenant_id } })

const change = (user: User, body: Schemas['UpdateUser']) =>
  ok(api.PATCH('/api/v1/admin/users/{user_id}', { params: named(user), body }))

function Act({ act, user, onClose, reload }: Opened & { onClose: () => void; reload: () => Promise<void> }) {
  if (act === 'edit') return <Edit user={user} onClose={onClose} reload={reload} />
  if (act === 'suspend') {
    return (
      <Confirm
        title={`Suspend ${user.id}?`}
        act="Suspend"
        onClose={onClose}
        run={async () => {
          await change(user, { status: 'suspended' })
          announce(`${user.id} is suspended`)
          await reload()
        }}
      >
        <p>
          Tokens, sessions and API keys of {user.id} in {user.tenant_id} are refused until the user is
          activated again.
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm
      title={`Remove ${user.id} from the directory?`}
      act="Remove"
      name={user.id}
      onClose={onClose}
      run={async () => {
        await ok(api.DELETE('/api/v1/admin/users/{user_id}', { params: named(user) }))
        announce(`${user.id} is removed`)
        await reload()
      }}
    >
      <p>
        The user’s API keys are revoked. Tokens of the issuer stay good: to keep somebody out, suspend them.
      </p>
    </Confirm>
  )
}

const profileOf = ({ email, display_name, role }: Values) => ({
  email: email ?? null,
  display_name: display_name ?? null,
  role: role ?? null,
})

const Profile = ({ user }: { user?: User }) => (
  <>
    <Field label="Name" name="display_name" maxLength={255} value={user?.display_name ?? ''} />
    <Field label="E-mail" name="email" type="email" value={user?.email ?? ''} />
    <RoleField value={user?.role} />
  </>
)

const Edit = ({
  user,
  onClose,
  reload,
}: {
  user: User
  onClose: () => void
  reload: () => Promise<void>
}) => (
  <Dialog title={`${user.id} of ${user.tenant_id}`} onClose={onClose}>
    <Form
      submit="Save"
      cancel={onClose}
      done={onClose}
      send={async values => {
        await change(user, profileOf(values))
        announce(`${user.id} is changed`)
        await reload()
      }}
    >
      <Profile user={user} />
    </Form>
  </Dialog>
)

const Add = ({ onClose, reload }: { onClose: () => void; reload: () => Promise<void> }) => (
  <Dialog title="Add a user" onClose={onClose}>
    <Form
      submit="Add"
      cancel={onClose}
      done={onClose}
      send={async ({ id = '', tenant_id = '', suspended, ...profile }) => {
        const status = suspended ? 'suspended' : 'active'
        await ok(api.POST('/api/v1/admin/users', { body: { id, tenant_id, status, ...profileOf(profile) } }))
        announce(`${id} is added`)
        await reload()
      }}
    >
      <Field label="User" name="id" required maxLength={128} help="The sub of the user’s tokens." />
      <Field
        label="Tenant"
        name="tenant_id"
        required
        maxLength={128}
        help="The tenant of the user’s tokens."
      />
      <Profile />
      <Field label="Suspended from the start" name="suspended" type="checkbox" />
    </Form>
  </Dialog>
)
