// One statement: its lines, its hash, and what it corrects or what corrects it.
import { api, ok, type Schemas } from '../api.ts'
import { useQuery } from '../query.ts'
import { Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import { Copy, Download, Facts, moneyOfMinor, Page, Section, Shown, Time } from '../ui/index.ts'
import { useDeploymentNames } from './deployment-names.ts'
import { StatementLines } from './statement-lines.tsx'

type Statement = Schemas['StatementDetail']

export default function StatementPage({ params: { id = '' } }: PageProps) {
  const statement = useQuery(
    signal => ok(api.GET('/api/v1/statements/{id}', { params: { path: { id } }, signal })),
    [id],
  )
  const found = statement.data?.data
  return (
    <Page
      title={found ? `Statement ${found.number}` : 'Statement'}
      operation="getStatement"
      actions={
        found && (
          <Download path={to`/api/v1/statements/${id}`} query={{ format: 'csv' }}>
            Download CSV
          </Download>
        )
      }
    >
      <Shown query={statement}>
        {({ data }) => (
          <>
            <Fields statement={data} />
            <Section title="Lines">
              {data.adjusts && <p>A correction: its lines are differences to what was charged before.</p>}
              <StatementLines label="Lines of the statement" lines={data.lines} currency={data.currency} />
              <p class="more">
                In all <strong>{moneyOfMinor(data.total_cents, data.currency)}</strong>
              </p>
            </Section>
            <Section title="Proof">
              <p class="quiet">
                SHA-256 over the statement as JSON without this hash, names sorted, nothing between the
                tokens.
              </p>
              <p class="more">
                <code>{data.content_hash}</code>
                <Copy text={data.content_hash} />
              </p>
            </Section>
          </>
        )}
      </Shown>
    </Page>
  )
}

function Fields({ statement }: { statement: Statement }) {
  const { id, tenant_id, deployment_id, period, sequence, adjusts, currency } = statement
  const corrections = useQuery(
    signal => ok(api.GET('/api/v1/statements', { params: { query: { adjusts: id } }, signal })),
    [id],
    { when: may('listAllStatements') },
  )
  const nameOf = useDeploymentNames()
  const corrected = corrections.data?.data ?? []
  return (
    <Facts
      facts={[
        ['Total', moneyOfMinor(statement.total_cents, currency)],
        ['Month', period],
        ...(seesAllTenants() ? ([['Tenant', tenant_id]] as [string, string][]) : []),
        [
          'Deployment',
          <Link href={to`/deployments/${deployment_id}?period=${period}`}>{nameOf(deployment_id)}</Link>,
        ],
        ['Closed', <Time at={statement.closed_at} />],
        [
          'Corrects',
          adjusts && (
            <Link href={to`/money/statements/${adjusts}`}>
              <code>{adjusts}</code>
            </Link>
          ),
        ],
        [
          'Corrected by',
          corrected.length > 0 ? (
            <ul class="plain-list">
              {corrected.map(other => (
                <li key={other.id}>
                  <Link href={to`/money/statements/${other.id}`}>{other.number}</Link>,{' '}
                  {moneyOfMinor(other.total_cents, other.currency)}
                </li>
              ))}
            </ul>
          ) : null,
        ],
        ['Sequence', sequence],
      ]}
    />
  )
}
