// Says whose a line is, where kind and name do not.
import { api, ok, once } from '../api.ts'
import { useQuery } from '../query.ts'
import { may } from '../session.tsx'
import { announce, Dialog, Field, Form, Money } from '../ui/index.ts'
import type { CostLine } from './cost-line-table.tsx'

interface Props {
  line: CostLine
  done: () => Promise<void>
  onClose: () => void
}

export function AssignLine({ line, done, onClose }: Props) {
  const { id, description } = line
  // `web-01 (s-1vcpu-1gb)`: what comes before the size.
  const name = description.split(' (')[0]!
  const resources = useQuery(
    signal =>
      ok(
        api.GET('/api/v1/inventory', {
          params: { query: { name, include_deleted: true, limit: 50 } },
          signal,
        }),
      ),
    [name],
    { when: may('listResources') },
  )
  const deployments = useQuery(
    signal => ok(api.GET('/api/v1/deployments', { params: { query: { limit: 500 } }, signal })),
    [],
    { when: may('listDeployments') },
  )
  const found = deployments.data?.data ?? []
  const send = async (body: Record<string, string>) => {
    await ok(
      api.POST('/api/v1/billing/cost-lines/{id}/assign', { params: { path: { id } }, body, headers: once() }),
    )
    announce(`Assigned: ${description}`)
    await done()
  }
  return (
    <Dialog title="Assign a cost line" onClose={onClose}>
      <p>
        {description}, {line.period.slice(0, 7)}:{' '}
        <strong>
          <Money amount={line.amount} currency={line.currency} />
        </strong>
      </p>
      <p class="quiet">
        Fill in one of the three. It stays so when the invoice is fetched again, until it is taken back.
      </p>
      <Form submit="Assign" send={send} done={onClose} cancel={onClose}>
        <Field
          label="Resource"
          name="resource_id"
          help="Brings the deployment and the tenant that it had while the line ran. Those of the line’s name are suggested."
          suggestions={(resources.data?.data ?? []).map(resource => ({
            value: resource.id,
            text: `${resource.name} · ${resource.kind}${resource.deleted_at ? ' · deleted' : ''}`,
          }))}
        />
        <Field
          label="Deployment"
          name="deployment_id"
          help="Brings its tenant."
          suggestions={found.map(({ id, slug, tenant_id }) => ({
            value: id,
            text: `${slug} · ${tenant_id}`,
          }))}
        />
        <Field
          label="Tenant"
          name="tenant_id"
          suggestions={[...new Set(found.map(({ tenant_id }) => tenant_id))]}
        />
      </Form>
    </Dialog>
  )
}
