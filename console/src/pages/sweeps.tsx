// How fresh the mirror is, kind by kind; the sweeps that made it so, and the deletions that they hold back.
import { api, ok, once, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList, useQuery } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import {
  ActButton,
  Badge,
  type Column,
  Filters,
  Missing,
  Page,
  Section,
  Shown,
  Table,
  Time,
} from '../ui/index.ts'
import { ConfirmHeld } from './held-deletions.tsx'

type Run = Schemas['SyncRun']
type Kind = Schemas['MirroredKind']

const FIELDS = [
  { name: 'kind', label: 'Kind', options: [...KINDS, 'project'] },
  { name: 'status', label: 'Status', options: ['running', 'complete', 'partial', 'failed', 'unavailable'] },
  { name: 'sweep_id', label: 'Sweep’s id', search: true },
]

const sweepNow = () =>
  ok(
    api.POST('/api/v1/admin/scheduled_tasks/{name}/run', {
      params: { path: { name: 'resource_sync' } },
      headers: once(),
    }),
  )

const number = (name: string, count: (run: Run) => number): Column<Run> => ({
  name,
  number: true,
  cell: run => count(run) || <span class="quiet">0</span>,
})

const runColumns: Column<Run>[] = [
  {
    name: 'Kind',
    cell: ({ id, kind }) => <Link href={to`/sweeps/${id}`}>{kind.replaceAll('_', ' ')}</Link>,
  },
  { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  { name: 'Begun', cell: ({ started_at }) => <Time at={started_at} seconds /> },
  number('Seen', ({ seen }) => seen),
  number('New', ({ inserted }) => inserted),
  number('Changed', ({ updated }) => updated),
  number('Missed', ({ struck }) => struck),
  number('Deleted', ({ deleted }) => deleted),
  number('Restored', ({ restored }) => restored),
  number('Held', ({ held }) => held),
  { name: 'Error', cell: ({ error }) => (error ? <span title={error}>{error}</span> : <Missing />) },
]

export default function Sweeps() {
  const query = filters('kind', 'status', 'sweep_id')
  const overview = useQuery(signal => ok(api.GET('/api/v1/overview', { signal })), [], { every: 10_000 })
  const runs = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/inventory/sync-runs', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 10_000 },
  )
  return (
    <Page
      title="Sweeps"
      operation="listSyncRuns"
      actions={
        <ActButton operation="runTask" run={sweepNow} done="Asked for: a sweep of every kind.">
          Sweep now
        </ActButton>
      }
    >
      <Section title="The mirror">
        <Shown query={overview}>
          {({ data: { mirror } }) => (
            <Table
              label="The mirror, kind by kind"
              list={{ rows: mirror ?? [] }}
              columns={kindColumns(() => Promise.all([overview.reload(), runs.reload()]))}
              id={({ kind }) => kind}
              empty="Nothing was swept yet."
            />
          )}
        </Shown>
      </Section>
      <Section title="Runs">
        <Filters fields={FIELDS} />
        <Table
          label="Runs, newest first"
          list={runs}
          columns={runColumns}
          id={({ id }) => id}
          empty="No run matches. A sweep of every kind begins each hour."
        />
      </Section>
    </Page>
  )
}

const kindColumns = (reload: () => Promise<unknown>): Column<Kind>[] => [
  { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  {
    name: 'Fresh',
    cell: ({ stale }) => <Badge tone={stale ? 'bad' : 'good'}>{stale ? 'stale' : 'fresh'}</Badge>,
  },
  { name: 'Last whole sweep', cell: ({ complete_at }) => <Time at={complete_at} /> },
  { name: 'Resources', number: true, cell: ({ resources }) => resources ?? <Missing /> },
  {
    name: 'Last run',
    cell: ({ last_run }) =>
      last_run ? (
        <Link href={to`/sweeps/${last_run.id}`}>
          <Badge>{last_run.status}</Badge>
        </Link>
      ) : (
        <Missing />
      ),
  },
  {
    name: 'Held deletions',
    cell: ({ last_run }) => (last_run ? <ConfirmHeld run={last_run} done={reload} /> : <Missing />),
  },
]
