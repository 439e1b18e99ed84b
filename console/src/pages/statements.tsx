// What months came to: every statement that was closed, and what corrects it.
import { api, ok } from '../api.ts'
import { useList } from '../query.ts'
import { filters } from '../router.tsx'
import { seesAllTenants } from '../session.tsx'
import { type FilterField, Filters, Page } from '../ui/index.ts'
import { useDeploymentNames } from './deployment-names.ts'
import { StatementTable } from './statement-table.tsx'

const fields = (): FilterField[] => [
  { name: 'period', label: 'Month', type: 'month' },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
  { name: 'deployment_id', label: 'Deployment' },
]

export default function Statements() {
  const query = filters('period', 'tenant_id', 'deployment_id')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/statements', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 60_000 },
  )
  return (
    <Page title="Statements" operation="listAllStatements">
      <Filters fields={fields()} />
      <StatementTable
        list={list}
        nameOf={useDeploymentNames()}
        empty="No statement matches. A month is closed three days after its end, by the task metering."
      />
    </Page>
  )
}
