// How fresh the mirror is: of each kind the last whole sweep, and what the last run came to.
import { api, ok, once, type Schemas } from '../../api.ts'
import { Link, to } from '../../router.tsx'
import { may, seesAllTenants } from '../../session.tsx'
import { ActButton, Badge, type Column, Missing, Section, Table, Time } from '../../ui/index.ts'

type Kind = Schemas['MirroredKind']

const path = { name: 'resource_sync' }

export function Mirror({ kinds, reload }: { kinds: Kind[]; reload: () => Promise<void> }) {
  return (
    <Section
      title="Mirror"
      actions={
        <ActButton
          operation="runTask"
          done="The sweep is started"
          run={async () => {
            await ok(
              api.POST('/api/v1/admin/scheduled_tasks/{name}/run', { params: { path }, headers: once() }),
            )
            await reload()
          }}
        >
          Sweep now
        </ActButton>
      }
    >
      <Table
        label="Kinds of the mirror"
        list={{ rows: kinds }}
        id={({ kind }) => kind}
        empty="Nothing is mirrored."
        columns={columns()}
      />
    </Section>
  )
}

const columns = (): (Column<Kind> | false)[] => [
  { name: 'Kind', cell: ({ kind }) => <KindLink kind={kind} /> },
  {
    name: 'Mirror',
    cell: ({ stale }) => <Badge tone={stale ? 'bad' : 'good'}>{stale ? 'stale' : 'fresh'}</Badge>,
  },
  {
    name: 'Last whole sweep',
    cell: ({ complete_at }) => (complete_at ? <Time at={complete_at} /> : <span class="bad">never</span>),
  },
  { name: 'Resources', number: true, cell: ({ resources }) => resources ?? <Missing /> },
  seesAllTenants() && {
    name: 'Last run',
    cell: ({ last_run }) => (last_run ? <LastRun {...last_run} /> : <Missing />),
  },
]

const KindLink = ({ kind }: { kind: string }) => {
  const words = kind.replaceAll('_', ' ')
  if (kind === 'project') return may('listProjects') ? <Link href="/projects">{words}</Link> : words
  return <Link href={to`/inventory?kind=${kind}`}>{words}</Link>
}

/** Leads to the run, where deletions that are held can be confirmed. */
function LastRun({ id, status, held, confirmed_at }: Schemas['SyncRun']) {
  const text = <Badge>{status}</Badge>
  if (!may('getSyncRun')) return text
  return (
    <Link href={to`/sweeps/${id}`}>
      {held > 0 && !confirmed_at ? <Badge tone="bad">{`${held} deletions held`}</Badge> : text}
    </Link>
  )
}
