// Runs of the workflows: what was ordered, how far it is, and what became of it.
import { api, ok, type Schemas } from '../api.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import {
  Badge,
  type Column,
  duration,
  type FilterField,
  Filters,
  Missing,
  Page,
  Table,
  Time,
} from '../ui/index.ts'

type Run = Schemas['SagaRun']

const STATUSES = ['pending', 'running', 'completed', 'failed', 'compensating', 'rolled_back'] as const

const fields = (): FilterField[] => [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'kind', label: 'Kind', options: ['provision_deployment', 'deprovision_deployment'] },
  { name: 'deployment_id', label: 'Deployment’s id', search: true },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant' }] : []),
]

export const deploymentOf = ({ inputs }: Pick<Run, 'inputs'>): string | undefined =>
  typeof inputs.deployment_id === 'string' ? inputs.deployment_id : undefined

/** How long it took, or has taken until now. */
export function lasted({
  started_at,
  finished_at,
}: Pick<Run, 'started_at' | 'finished_at'>): string | undefined {
  if (!started_at) return undefined
  const end = finished_at ? Date.parse(finished_at) : Date.now()
  return duration(Math.max(0, end - Date.parse(started_at)))
}

function progress({ status, step_modules, current_step_index }: Run): string {
  const all = step_modules.length
  if (status === 'completed') return `all ${all}`
  return `${Math.min(current_step_index + 1, all)} of ${all}: ${step_modules[current_step_index] ?? ''}`
}

const columns: Column<Run>[] = [
  {
    name: 'Run',
    cell: ({ id, kind }) => <Link href={to`/sagas/${id}`}>{kind.replaceAll('_', ' ')}</Link>,
  },
  {
    name: 'Status',
    cell: ({ status, cancel_requested }) => (
      <>
        <Badge>{status}</Badge>
        {cancel_requested && <span class="quiet"> (cancelled)</span>}
      </>
    ),
  },
  { name: 'Step', cell: progress },
  {
    name: 'Why it ended',
    cell: ({ error }) => (error ? <span title={error.reason}>{error.reason}</span> : <Missing />),
  },
  { name: 'Ordered', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Took', number: true, cell: run => lasted(run) ?? <Missing /> },
  {
    name: 'Deployment',
    cell: run => {
      const id = deploymentOf(run)
      return id ? <Link href={to`/deployments/${id}`}>…{id.slice(-12)}</Link> : <Missing />
    },
  },
]

export default function Sagas() {
  const query = filters('status', 'kind', 'deployment_id', 'tenant_id')
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/sagas', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 5_000 },
  )
  return (
    <Page
      title="Sagas"
      operation="listSagas"
      actions={may('listSagaLeaks') && <Link href="/sagas/leaks">Leaks</Link>}
    >
      <Filters fields={fields()} />
      <Table
        label="Runs, newest first"
        list={list}
        columns={columns}
        id={({ id }) => id}
        empty="No run matches. Provisioning or deprovisioning a deployment starts one."
      />
    </Page>
  )
}
