// The mirror of what the provider has: every resource, by any filter, now or as it was at a moment.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import { Badge, type Column, type FilterField, Filters, Missing, Page, Table, Time } from '../ui/index.ts'
import { at, Moment, shownMoment } from './moment.tsx'

type Resource = Schemas['Resource']

const fields = (moment: string | undefined): FilterField[] => [
  { name: 'name', label: 'Name (exact)', search: true },
  { name: 'kind', label: 'Kind', options: KINDS },
  { name: 'region', label: 'Region' },
  { name: 'status', label: 'Status' },
  { name: 'tag', label: 'Tag' },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant' }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'project_id', label: 'Project' },
  { name: 'include_deleted', label: 'Deleted too', flag: true },
  // Which ones the last sweep missed is known of now alone.
  ...(moment ? [] : [{ name: 'missing', label: 'Missing ones only', flag: true }]),
]

const columns = (moment: string | undefined): (Column<Resource> | false)[] => [
  {
    name: 'Name',
    cell: ({ id, name }) => <Link href={at(to`/inventory/${id}`, moment)}>{name || id}</Link>,
  },
  { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { name: 'Status', cell: resource => <Status {...resource} /> },
  { name: 'Region', cell: ({ region }) => region ?? <Missing /> },
  seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
  { name: 'Tags', cell: ({ tags }) => (tags.length > 0 ? tags.join(', ') : <Missing />) },
  { name: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
]

const Status = ({ status, deleted_at, missing_since }: Resource) =>
  missing_since && !deleted_at ? (
    <Badge tone="bad">missing</Badge>
  ) : (
    <Badge>{deleted_at ? 'deleted' : status}</Badge>
  )

const SPAN_FILTERS = ['kind', 'tenant_id', 'deployment_id', 'project_id'] as const

/** Since the moment shown, or the day up to now, with the filters that both lists have. */
function sinceThen(moment: string | undefined): string {
  const kept = filters(...SPAN_FILTERS) as Record<string, string>
  const query = new URLSearchParams(moment ? { ...kept, from: moment } : kept)
  return `/inventory/changes${query.size > 0 ? `?${query}` : ''}`
}

/** After so many empty pages it is left to the reader to go on. */
const MOST_EMPTY = 10

export default function Inventory() {
  const moment = shownMoment()
  const query = {
    ...filters('name', 'kind', 'region', 'status', 'tag', 'tenant_id', 'deployment_id', 'project_id'),
    ...filters('include_deleted', 'limit', 'at'),
    ...(!moment && filters('missing')),
  }
  const [since, setSince] = useState<string | null>()
  const list = useList(
    async (cursor, signal) => {
      const ask = (from: string | undefined) =>
        ok(api.GET('/api/v1/inventory', { params: { query: { ...query, cursor: from } }, signal }))
      let page = await ask(cursor)
      // A page of the past may have found nothing yet and say where to go on.
      for (let asked = 1; page.data.length === 0 && page.next_cursor && asked < MOST_EMPTY; asked++)
        page = await ask(page.next_cursor)
      setSince(page.known_since)
      return page
    },
    [query],
    // What was stays as it was.
    moment ? {} : { every: 30_000 },
  )
  return (
    <Page
      title="Inventory"
      operation="listResources"
      actions={
        may('listResourceChanges') && (
          <Link href={sinceThen(moment)}>{moment ? 'What changed since then' : 'What changed'}</Link>
        )
      }
    >
      <Moment since={since} />
      <Filters fields={fields(moment)} />
      <Table
        label="Resources"
        list={list}
        columns={columns(moment)}
        id={({ id }) => id}
        empty={
          moment
            ? 'No resource matched at that moment.'
            : 'No resource matches. The mirror fills with the first whole sweep of the provider.'
        }
      />
    </Page>
  )
}
