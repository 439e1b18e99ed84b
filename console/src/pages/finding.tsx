// One finding: what was found, how one can tell, what it costs, and leaving it alone for a while.
import { useState } from 'preact/hooks'
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import { ActButton, Badge, Empty, Facts, Page, Section, Shown, Time, Value } from '../ui/index.ts'
import { Cost, type Finding, nameOf, SEVERITY_TONES, SOURCES, Subject } from './findings/finding.tsx'
import { SnoozeFindings } from './findings/snooze.tsx'

export default function FindingPage({ params: { id = '' } }: PageProps) {
  const query = useQuery(
    signal => ok(api.GET('/api/v1/findings/{id}', { params: { path: { id } }, signal })),
    [id],
    { every: 15_000 },
  )
  const checks = useQuery(signal => ok(api.GET('/api/v1/findings/checks', { signal })), [])
  const [snoozing, setSnoozing] = useState(false)
  const finding = query.data?.data
  const wake = async () => {
    await ok(api.DELETE('/api/v1/findings/{id}/snooze', { params: { path: { id } } }))
    await query.reload()
  }
  const close = () => {
    setSnoozing(false)
    query.reload()
  }
  const actions = (
    <>
      {finding?.status === 'open' && may('snoozeFinding') && (
        <button type="button" onClick={() => setSnoozing(true)}>
          Snooze…
        </button>
      )}
      {finding?.status === 'snoozed' && (
        <ActButton operation="endFindingSnooze" run={wake} done="It is open again.">
          End the snooze
        </ActButton>
      )}
    </>
  )
  return (
    <Page title={finding ? nameOf(finding) : 'Finding'} operation="getFinding" actions={actions}>
      <Shown query={query}>
        {({ data }) => (
          <>
            <p class="above">
              <Words text={checks.data?.data.find(({ name }) => name === data.check)?.description ?? ''} />
            </p>
            <What finding={data} />
            {data.snooze_reason !== null && <Snoozed finding={data} />}
            <Section title="Evidence">
              <Evidence evidence={data.evidence} />
            </Section>
            {snoozing && <SnoozeFindings findings={[data]} onClose={close} />}
          </>
        )}
      </Shown>
    </Page>
  )
}

/** What stands between backticks is written as it is typed. */
const Words = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, n) => (n % 2 ? <code key={n}>{part}</code> : part))}</>
)

const What = ({ finding }: { finding: Finding }) => {
  const { status, severity, category, check, tenant_id, deployment_id, cost_source } = finding
  return (
    <Facts
      facts={[
        ['Status', <Badge key="status">{status}</Badge>],
        [
          'Severity',
          <Badge key="severity" tone={SEVERITY_TONES[severity]}>
            {severity}
          </Badge>,
        ],
        ['About', <Subject key="about" {...finding} />],
        [
          'Costs a month',
          <span key="cost">
            <Cost {...finding} /> {cost_source && <span class="quiet">{SOURCES[cost_source]}</span>}
          </span>,
        ],
        ['Region', finding.resource?.region],
        ...(seesAllTenants() ? [['Tenant', tenant_id] as [string, string | null]] : []),
        [
          'Deployment',
          deployment_id && <Link href={to`/deployments/${deployment_id}`}>{deployment_id}</Link>,
        ],
        ['Since', <Time key="since" at={finding.since} />],
        ['First found', <Time key="opened" at={finding.opened_at} />],
        ['Last found', <Time key="last" at={finding.last_found_at} />],
        ['Closed', <Time key="closed" at={finding.closed_at} />],
        ['Category', category],
        [
          'Check',
          <Link key="check" href={`/findings?check=${check}`}>
            {check}
          </Link>,
        ],
      ]}
    />
  )
}

const Snoozed = ({ finding: { snoozed_until, snoozed_by, snooze_reason } }: { finding: Finding }) => (
  <Section title="Snooze">
    <Facts
      facts={[
        ['Until', <Time key="until" at={snoozed_until} />],
        ['By', snoozed_by],
        ['Reason', snooze_reason],
      ]}
    />
  </Section>
)

const Evidence = ({ evidence }: { evidence: Record<string, unknown> }) => {
  const facts = Object.entries(evidence)
  if (facts.length === 0) return <Empty>It needs none.</Empty>
  return (
    <Facts
      facts={facts.map(([name, value]) => [name.replaceAll('_', ' '), <Value key={name} value={value} />])}
    />
  )
}
