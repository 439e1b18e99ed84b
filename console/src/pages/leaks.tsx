// What runs have left behind at the provider, and what can be done about it.
import { useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { Link, to } from '../router.tsx'
import { may } from '../session.tsx'
import { ActButton, announce, Badge, Confirm, Missing, Page, Table, Time } from '../ui/index.ts'

type Leak = Schemas['Leak']

const WHY: Record<Leak['reason'], string> = {
  run_rolled_back: 'Its run was rolled back',
  run_failed: 'Its run could not be driven to an end',
  run_unknown: 'No run has the id of its tag',
  not_owned: 'Its run completed without keeping it',
}

/** Only droplets of runs that were rolled back are taken down by the service itself. */
const ADVICE = ({ reason, resource }: Leak) =>
  reason === 'run_rolled_back' && resource.kind === 'droplet'
    ? 'Is taken down within minutes, unless it is kept'
    : 'Keep it, or destroy it at the provider'

export default function Leaks() {
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/sagas/leaks', { params: { query: { cursor } }, signal })),
    [],
    { every: 15_000 },
  )
  const [keeping, setKeeping] = useState<Leak['resource']>()
  const takeDown = () =>
    ok(
      api.POST('/api/v1/admin/scheduled_tasks/{name}/run', {
        params: { path: { name: 'leak_cleanup' } },
        headers: once(),
      }),
    )
  const keep = async () => {
    const { id, name } = keeping!
    await ok(
      api.PUT('/api/v1/inventory/{id}/desired-state', { params: { path: { id } }, body: { spec: { name } } }),
    )
    announce(`${name} is kept.`)
    await list.reload()
  }
  return (
    <Page
      title="Leaks of sagas"
      operation="listSagaLeaks"
      actions={
        list.rows.length > 0 && (
          <ActButton
            operation="runTask"
            run={takeDown}
            done="Asked for: droplets of runs that were rolled back go."
          >
            Take down now
          </ActButton>
        )
      }
    >
      <Table
        label="Leaks"
        list={list}
        id={({ resource }) => resource.id}
        empty="Nothing was left behind, as of the last sweep."
        columns={[
          {
            name: 'Resource',
            cell: ({ resource }) => <Link href={to`/inventory/${resource.id}`}>{resource.name}</Link>,
          },
          { name: 'Kind', cell: ({ resource }) => resource.kind.replaceAll('_', ' ') },
          { name: 'Why', cell: ({ reason }) => WHY[reason] },
          {
            name: 'Run',
            cell: ({ saga_id, run_status }) =>
              run_status ? (
                <>
                  <Link href={to`/sagas/${saga_id}`}>{saga_id}</Link> <Badge>{run_status}</Badge>
                </>
              ) : (
                <Missing />
              ),
          },
          { name: 'Since', cell: ({ since }) => <Time at={since} /> },
          { name: 'What can be done', cell: ADVICE },
          may('putDesiredState') && {
            name: 'Keep',
            cell: ({ resource }) => (
              <button
                type="button"
                class="plain"
                aria-label={`Keep ${resource.name}`}
                onClick={() => setKeeping(resource)}
              >
                Keep…
              </button>
            ),
          },
        ]}
      />
      {keeping && (
        <Confirm title={`Keep ${keeping.name}`} act="Keep" run={keep} onClose={() => setKeeping(undefined)}>
          <p>
            It gets a desired state, its name for a start, and is nobody’s leak any more. It goes on costing
            what it costs.
          </p>
        </Confirm>
      )}
    </Page>
  )
}
