// What the roles of tokens permit.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import {
  announce,
  Choices,
  Confirm,
  chosen,
  Dialog,
  Field,
  Form,
  Missing,
  Page,
  Table,
} from '../../ui/index.ts'

type Role = Schemas['Role']
type Permission = Schemas['CreateRole']['permissions'][number]

// Every one that the API has: the compiler notices when one is missing or gone.
const PERMISSIONS = Object.keys({
  '*:read': 1,
  '*:write': 1,
  'audit_log:read': 1,
  'billing:read': 1,
  'billing:write': 1,
  'budgets:read': 1,
  'budgets:write': 1,
  'catalog:read': 1,
  'catalog:write': 1,
  'costs:read': 1,
  'dead_letters:read': 1,
  'dead_letters:write': 1,
  'deployments:operate': 1,
  'deployments:read': 1,
  'deployments:write': 1,
  'drift:accept': 1,
  'drift:read': 1,
  'drift:write': 1,
  'findings:read': 1,
  'findings:write': 1,
  'inventory:read': 1,
  'inventory:write': 1,
  'projects:read': 1,
  'projects:write': 1,
  'sagas:read': 1,
  'sagas:run': 1,
  'scheduled_tasks:read': 1,
  'scheduled_tasks:run': 1,
  'scheduled_tasks:write': 1,
  'usage_events:write': 1,
  'users:read': 1,
  'users:write': 1,
  'webhooks:read': 1,
  'webhooks:write': 1,
} satisfies Record<Permission, 1>) as Permission[]

export default function Roles() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/admin/roles', { params: { query: { cursor } }, signal })),
    [],
    { every: 30_000 },
  )
  const [edited, setEdited] = useState<Role | 'new'>()
  const [deleted, setDeleted] = useState<Role>()
  return (
    <Page
      title="Roles"
      operation="listRoles"
      actions={
        <button type="button" class="primary" onClick={() => setEdited('new')}>
          Create a role
        </button>
      }
    >
      <Table
        label="Roles"
        list={list}
        id={({ name }) => name}
        empty="There are none."
        columns={[
          { name: 'Role', cell: ({ name }) => name },
          { name: 'Description', wraps: true, cell: ({ description }) => description ?? <Missing /> },
          {
            name: 'Permissions',
            cell: ({ permissions }) => (permissions.length > 0 ? permissions.join(', ') : 'none'),
          },
          {
            name: 'Actions',
            cell: role =>
              role.built_in ? (
                <span class="acts quiet">built in</span>
              ) : (
                <span class="acts">
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Edit ${role.name}`}
                    onClick={() => setEdited(role)}
                  >
                    Edit
                  </button>
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Delete ${role.name}`}
                    onClick={() => setDeleted(role)}
                  >
                    Delete
                  </button>
                </span>
              ),
          },
        ]}
      />
      {edited && (
        <Edit
          role={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          reload={list.reload}
        />
      )}
      {deleted && (
        <Confirm
          title={`Delete the role ${deleted.name}?`}
          act="Delete"
          name={deleted.name}
          onClose={() => setDeleted(undefined)}
          run={async () => {
            await ok(api.DELETE('/api/v1/admin/roles/{name}', { params: { path: { name: deleted.name } } }))
            announce(`${deleted.name} is deleted`)
            await list.reload()
          }}
        >
          <p>
            Tokens that name it are held back by it no longer: whoever has no other role may do more than now.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

interface EditProps {
  role: Role | undefined
  onClose: () => void
  reload: () => Promise<void>
}

const Edit = ({ role, onClose, reload }: EditProps) => (
  <Dialog title={role ? `The role ${role.name}` : 'Create a role'} onClose={onClose}>
    <Form
      submit={role ? 'Save' : 'Create'}
      cancel={onClose}
      done={onClose}
      send={async values => {
        const { description = null } = values
        const name = role?.name ?? values.name ?? ''
        const permissions = chosen<Permission>(values, 'permissions')
        await ok(
          role
            ? api.PATCH('/api/v1/admin/roles/{name}', {
                params: { path: { name } },
                body: { description, permissions },
              })
            : api.POST('/api/v1/admin/roles', { body: { name, description, permissions } }),
        )
        announce(`${name} is ${role ? 'changed' : 'created'}`)
        await reload()
      }}
    >
      {!role && <Field label="Name" name="name" required help="As tokens spell it in their role claim." />}
      <Field label="Description" name="description" maxLength={255} value={role?.description ?? ''} />
      <Choices
        label="Permissions"
        name="permissions"
        options={PERMISSIONS}
        value={role?.permissions ?? []}
        help="* is every area, for reading and writing alone."
      />
    </Form>
  </Dialog>
)
