// Days that cost more than their weekday usually does, with what made them.
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { seesAllTenants } from '../../session.tsx'
import { type Column, moneyOfMinor, Section, Table, Time } from '../../ui/index.ts'

type UnusualDay = Schemas['UnusualDay']

const columns = (): (Column<UnusualDay> | false)[] => [
  { name: 'Day', cell: ({ day }) => <Time at={day} /> },
  seesAllTenants() && { name: 'Of', cell: ({ tenant_id }) => tenant_id ?? 'the whole account' },
  {
    name: 'Measured',
    cell: ({ measure }) => (measure === 'cost' ? 'what the provider takes' : 'what is charged'),
  },
  {
    name: 'Amount',
    number: true,
    cell: ({ amount_minor, currency }) => moneyOfMinor(amount_minor, currency),
  },
  { name: 'Usually', number: true, cell: ({ usual_minor, currency }) => moneyOfMinor(usual_minor, currency) },
  {
    name: 'What made it',
    wraps: true,
    cell: ({ lines, currency }) => (
      <ul class="lines">
        {lines.map(line => (
          <li key={`${line.kind} ${line.tenant_id} ${line.deployment_id}`}>
            {line.kind.replaceAll('_', ' ')}
            {line.deployment_id && (
              <>
                {' of '}
                <Link href={to`/deployments/${line.deployment_id}`}>a deployment</Link>
              </>
            )}
            {seesAllTenants() && line.tenant_id && ` of ${line.tenant_id}`}:{' '}
            {moneyOfMinor(line.amount_minor, currency)}, usually {moneyOfMinor(line.usual_minor, currency)}
          </li>
        ))}
      </ul>
    ),
  },
]

export function UnusualDays() {
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/budgets/unusual-days', { params: { query: { cursor, limit: 20 } }, signal })),
    [],
  )
  return (
    <Section title="Unusual days">
      <Table
        label="Unusual days"
        list={list}
        id={({ id }) => id}
        columns={columns()}
        empty="No day has cost much more than its weekday usually does."
      />
    </Section>
  )
}
