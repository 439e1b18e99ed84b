// The provider's projects, and whose they are: what a project holds is its tenant's.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { filters, Link } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import {
  announce,
  Badge,
  Dialog,
  Field,
  type FilterField,
  Filters,
  Form,
  Missing,
  Page,
  Table,
  Time,
} from '../ui/index.ts'

type Project = Schemas['Project']

const PURPOSES = ['internal', 'tenant', 'shared', 'unassigned'] as const satisfies Project['purpose'][]

const fields = (): FilterField[] => [
  { name: 'purpose', label: 'Purpose', options: PURPOSES },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
  { name: 'include_deleted', label: 'Deleted too', flag: true },
]

export default function Projects() {
  const query = filters('purpose', 'tenant_id', 'include_deleted')
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/projects', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  const [assigning, setAssigning] = useState<Project>()
  return (
    <Page title="Projects" operation="listProjects">
      <Filters fields={fields()} />
      <Table
        label="Projects"
        list={list}
        id={({ id }) => id}
        empty="No project matches. They come with the first whole sweep of the provider."
        columns={[
          { name: 'Name', cell: ({ id, name }) => <Link href={`/inventory?project_id=${id}`}>{name}</Link> },
          {
            name: 'Purpose',
            cell: ({ purpose, deleted_at }) => (
              <Badge tone={purpose === 'unassigned' ? 'busy' : 'quiet'}>
                {deleted_at ? 'deleted' : purpose}
              </Badge>
            ),
          },
          seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
          { name: 'Description', cell: ({ description }) => description || <Missing /> },
          { name: 'Provider’s default', cell: ({ is_default }) => (is_default ? 'yes' : <Missing />) },
          { name: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          may('assignProject') && {
            name: 'Assign',
            cell: project => (
              <button
                type="button"
                class="plain"
                aria-label={`Assign ${project.name}`}
                onClick={() => setAssigning(project)}
              >
                Assign…
              </button>
            ),
          },
        ]}
      />
      {assigning && (
        <Assign
          project={assigning}
          onClose={() => setAssigning(undefined)}
          done={() => {
            announce(`${assigning.name} is assigned, and everything in it.`)
            setAssigning(undefined)
            list.reload()
          }}
        />
      )}
    </Page>
  )
}

function Assign({ project, onClose, done }: { project: Project; onClose: () => void; done: () => void }) {
  const send = ({ tenant_id, purpose }: Record<string, string>) =>
    ok(
      api.PATCH('/api/v1/projects/{id}', {
        params: { path: { id: project.id } },
        // A tenant that was taken out of the field is taken from the project.
        body: { tenant_id: tenant_id ?? null, purpose: purpose as Project['purpose'] },
      }),
    )
  return (
    <Dialog title={`Assign ${project.name}`} onClose={onClose}>
      <p class="quiet">Its resources take the tenant at once, with an event each.</p>
      <Form submit="Assign" send={send} done={done} cancel={onClose}>
        <Field
          label="Tenant"
          name="tenant_id"
          value={project.tenant_id ?? ''}
          maxLength={128}
          help="Required when the purpose is tenant; empty: nobody’s."
        />
        <Field
          label="Purpose"
          name="purpose"
          options={PURPOSES}
          value={project.purpose === 'unassigned' ? 'tenant' : project.purpose}
          required
        />
      </Form>
    </Dialog>
  )
}
