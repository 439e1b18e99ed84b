// Statements as a list, on their own page and on a deployment's.
import type { Schemas } from '../api.ts'
import type { List } from '../query.ts'
import { Link, to } from '../router.tsx'
import { seesAllTenants } from '../session.tsx'
import { Badge, moneyOfMinor, Table, Time } from '../ui/index.ts'

type Statement = Schemas['Statement']

interface Props {
  list: List<Statement>
  empty: string
  /** What a deployment is called; none: all of them are of one. */
  nameOf?: (id: string) => string
}

export const StatementTable = ({ list, empty, nameOf }: Props) => (
  <Table
    label="Statements"
    list={list}
    id={({ id }) => id}
    empty={empty}
    columns={[
      { name: 'Number', cell: ({ id, number }) => <Link href={to`/money/statements/${id}`}>{number}</Link> },
      { name: 'Month', cell: ({ period }) => period },
      {
        name: 'Total',
        number: true,
        cell: ({ total_cents, currency }) => moneyOfMinor(total_cents, currency),
      },
      nameOf && seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id },
      nameOf && {
        name: 'Deployment',
        cell: ({ deployment_id: id }) => <Link href={to`/deployments/${id}`}>{nameOf(id)}</Link>,
      },
      {
        name: 'Kind',
        cell: ({ adjusts }) => (adjusts ? <Badge tone="busy">correction</Badge> : 'statement'),
      },
      { name: 'Closed', cell: ({ closed_at }) => <Time at={closed_at} /> },
    ]}
  />
)
