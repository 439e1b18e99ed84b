// Lines of invoices, and whose each of them is: by itself, by an operator's word, or nobody's yet.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import type { List } from '../query.ts'
import { Link, to } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import { ActButton, Badge, type Column, Missing, Money, Table } from '../ui/index.ts'
import { AssignLine } from './assign-line.tsx'

export type CostLine = Schemas['CostLine']

interface Props {
  label: string
  list: List<CostLine>
  empty: string
}

export function CostLineTable({ label, list, empty }: Props) {
  const [assigning, setAssigning] = useState<CostLine>()
  return (
    <>
      <Table
        label={label}
        list={list}
        id={({ id }) => id}
        empty={empty}
        columns={columns(setAssigning, list.reload)}
      />
      {assigning && (
        <AssignLine line={assigning} done={list.reload} onClose={() => setAssigning(undefined)} />
      )}
    </>
  )
}

const columns = (
  assign: (line: CostLine) => void,
  reload: () => Promise<void>,
): (Column<CostLine> | false)[] => [
  {
    name: 'Month',
    cell: ({ invoice_id, period }) =>
      may('getInvoice') ? (
        <Link href={to`/money/invoices/${invoice_id}`}>{period.slice(0, 7)}</Link>
      ) : (
        period.slice(0, 7)
      ),
  },
  { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  {
    name: 'Description',
    cell: ({ description, resource_id }) =>
      resource_id ? <Link href={to`/inventory/${resource_id}`}>{description}</Link> : description,
  },
  { name: 'Hours', number: true, cell: ({ hours }) => hours ?? <Missing /> },
  {
    name: 'Amount',
    number: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
  {
    name: 'Deployment',
    cell: ({ deployment_id: id }) =>
      id ? <Link href={to`/deployments/${id}`}>{id.slice(-12)}</Link> : <Missing />,
  },
  { name: 'Matched', cell: line => <MatchedBadge {...line} /> },
  may('assignCostLine') && {
    name: 'Assignment',
    cell: line => (
      <span class="acts">
        <button
          type="button"
          class="plain"
          aria-label={`Assign ${line.description}`}
          onClick={() => assign(line)}
        >
          Assign
        </button>
        {line.matched_by === 'hand' && (
          <ActButton
            operation="unassignCostLine"
            class="plain"
            label={`Take back the assignment of ${line.description}`}
            done="Taken back: the line is matched by its kind and name again."
            run={async () => {
              const { id } = line
              await ok(api.DELETE('/api/v1/billing/cost-lines/{id}/assign', { params: { path: { id } } }))
              await reload()
            }}
          >
            Take back
          </ActButton>
        )}
      </span>
    ),
  },
]

const MatchedBadge = ({ matched_by, is_tax }: CostLine) =>
  matched_by === null ? (
    <Badge tone={is_tax ? 'quiet' : 'busy'}>{is_tax ? 'tax' : 'unmatched'}</Badge>
  ) : (
    <Badge tone="good">{matched_by === 'hand' ? 'by hand' : 'by name'}</Badge>
  )
