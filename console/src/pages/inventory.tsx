// The mirror of what the provider has: every resource, by any filter.
import { api, ok, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { seesAllTenants } from '../session.tsx'
import { Badge, type Column, type FilterField, Filters, Missing, Page, Table, Time } from '../ui/index.ts'

type Resource = Schemas['Resource']

const fields = (): FilterField[] => [
  { name: 'name', label: 'Name (exact)', search: true },
  { name: 'kind', label: 'Kind', options: KINDS },
  { name: 'region', label: 'Region' },
  { name: 'status', label: 'Status' },
  { name: 'tag', label: 'Tag' },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant' }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'project_id', label: 'Project' },
  { name: 'include_deleted', label: 'Deleted too', flag: true },
]

const columns = (): (Column<Resource> | false)[] => [
  { name: 'Name', cell: ({ id, name }) => <Link href={to`/inventory/${id}`}>{name || id}</Link> },
  { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { name: 'Status', cell: ({ status, deleted_at }) => <Badge>{deleted_at ? 'deleted' : status}</Badge> },
  { name: 'Region', cell: ({ region }) => region ?? <Missing /> },
  seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
  { name: 'Tags', cell: ({ tags }) => (tags.length > 0 ? tags.join(', ') : <Missing />) },
  { name: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
]

export default function Inventory() {
  const query = filters(
    'name',
    'kind',
    'region',
    'status',
    'tag',
    'tenant_id',
    'deployment_id',
    'project_id',
    'include_deleted',
    'limit',
  )
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/inventory', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  return (
    <Page title="Inventory" operation="listResources">
      <Filters fields={fields()} />
      <Table
        label="Resources"
        list={list}
        columns={columns()}
        id={({ id }) => id}
        empty="No resource matches. The mirror fills with the first whole sweep of the provider."
      />
    </Page>
  )
}
