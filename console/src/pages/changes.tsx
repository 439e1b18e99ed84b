// What changed in the inventory between two moments, for each resource net: what came, what went, what is otherwise.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList } from '../query.ts'
import { filter, filters, Link, to } from '../router.tsx'
import { seesAllTenants } from '../session.tsx'
import { Diff, type FilterField, Filters, Page, PagedTimeline, Time, type TimelineItem } from '../ui/index.ts'
import { at } from './moment.tsx'

type Change = Schemas['ResourceChange']

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS

const TONES = { added: 'good', gone: 'bad', changed: 'busy' } as const

const fields = (): FilterField[] => [
  { name: 'from', label: 'From', type: 'moment' },
  { name: 'to', label: 'To', type: 'moment' },
  { name: 'change', label: 'Change', options: ['added', 'gone', 'changed'] },
  { name: 'kind', label: 'Kind', options: KINDS },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'project_id', label: 'Project' },
]

/** The day up to now, unless the address says otherwise. */
function useSpan(): { from: string; to: string } {
  const [opened] = useState(() => Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS)
  const until = filter('to') ?? new Date(opened).toISOString()
  const end = Date.parse(until)
  const dayBefore = new Date((Number.isNaN(end) ? opened : end) - DAY_MS).toISOString()
  return { from: filter('from') ?? dayBefore, to: until }
}

export default function Changes() {
  const span = useSpan()
  const query = { ...span, ...filters('change', 'kind', 'tenant_id', 'deployment_id', 'project_id') }
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/changes', { params: { query: { ...query, cursor } }, signal })),
    [query],
  )
  return (
    <Page title="What changed" operation="listResourceChanges">
      <Filters fields={fields()} />
      <p class="quiet above">
        Between <Time at={span.from} /> and <Time at={span.to} />, each resource once: as it was at the first
        and as it was at the last. When the mirror saw it last change stands beside it.
      </p>
      <PagedTimeline
        label="Changes, oldest first"
        list={list}
        item={change => itemOf(change, span)}
        empty="Nothing: at the end everything was as at the beginning."
        more="More"
      />
    </Page>
  )
}

function itemOf(row: Change, { from }: { from: string }): TimelineItem {
  const { resource_id: id, name, kind, change, tenant_id, changed_at, changes } = row
  const then = change === 'gone' ? from : filter('to')
  return {
    key: id,
    at: changed_at,
    tone: TONES[change],
    title: (
      <>
        <span class={TONES[change]}>{change}</span>{' '}
        <Link href={at(to`/inventory/${id}`, then)}>{name || id}</Link>{' '}
        <span class="quiet">
          {kind.replaceAll('_', ' ')}
          {seesAllTenants() && tenant_id && ` of ${tenant_id}`}
        </span>
      </>
    ),
    body: changes && <Diff changes={changes} />,
  }
}
