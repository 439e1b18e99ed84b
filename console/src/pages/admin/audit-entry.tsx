// One entry of the audit log, with what was there before and after.
import { api, ok, type Schemas } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { Diff, Empty, Facts, Page, Section, Shown, Time } from '../../ui/index.ts'
import { ActionBadge } from './audit.tsx'

type Entry = Schemas['AuditEntry']
type Values = Record<string, unknown> | null

/** The members that are not the same on both sides. */
export function changesOf(
  before: Values,
  after: Values,
): Record<string, { before?: unknown; after?: unknown }> {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return Object.fromEntries(
    [...fields].flatMap(field => {
      const sides = { before: before?.[field], after: after?.[field] }
      return JSON.stringify(sides.before) === JSON.stringify(sides.after) ? [] : [[field, sides]]
    }),
  )
}

export default function AuditEntryPage({ params: { id = '' } }: PageProps) {
  const entry = useQuery(
    signal => ok(api.GET('/api/v1/admin/audit_log/{id}', { params: { path: { id } }, signal })),
    [id],
  )
  const found = entry.data?.data
  return (
    <Page
      title={found ? `${found.operation} by ${found.actor}` : 'Audit log entry'}
      operation="getAuditEntry"
    >
      <Shown query={entry}>
        {({ data }) => (
          <>
            <Fields entry={data} />
            <Section title="What changed">
              <Changes entry={data} />
            </Section>
          </>
        )}
      </Shown>
    </Page>
  )
}

function Changes({ entry }: { entry: Entry }) {
  const changes = changesOf(entry.before as Values, entry.after as Values)
  return Object.keys(changes).length > 0 ? <Diff changes={changes} /> : <Empty>Nothing that is kept.</Empty>
}

const Fields = ({ entry }: { entry: Entry }) => (
  <Facts
    facts={[
      ['When', <Time key="at" at={entry.at} seconds />],
      [
        'Actor',
        <Link key="actor" href={to`/admin/audit?actor=${entry.actor}`}>
          {entry.actor}
        </Link>,
      ],
      ['Actor’s role', entry.actor_role],
      ['Actor’s tenant', entry.actor_tenant_id],
      ['Action', <ActionBadge key="action" action={entry.action} />],
      ['Subject', entry.subject_type.replaceAll('_', ' ')],
      [
        'Subject’s id',
        <Link
          key="subject"
          href={to`/admin/audit?subject_type=${entry.subject_type}&subject_id=${entry.subject_id}`}
        >
          {entry.subject_id}
        </Link>,
      ],
      ['Tenant', entry.tenant_id],
      [
        'Request',
        <Link key="request" href={to`/admin/audit?request_id=${entry.request_id}`}>
          {entry.request_id}
        </Link>,
      ],
      ['Client’s request', entry.client_request_id],
      ['Credential', entry.credential && Object.values(entry.credential).filter(Boolean).join(' ')],
      ['Address', entry.address],
      ['Place in the chain', entry.seq === null ? 'not chained yet' : String(entry.seq)],
      ['Hash', entry.hash && <code key="hash">{entry.hash}</code>],
    ]}
  />
)
