// Who changed what, when, by which request.
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { filter, filters, Link, to } from '../../router.tsx'
import { Badge, Filters, Missing, Page, Table, Time } from '../../ui/index.ts'

type Action = Schemas['AuditEntry']['action']

/** Days of the address are the reader's own; `until` is included. */
function period(): { since?: string; until?: string } {
  const midnight = (date: string | undefined, daysLater: number) => {
    if (!date || !/^\d{4}-\d\d-\d\d$/.test(date)) return date
    const [year, month, day] = date.split('-').map(Number) as [number, number, number]
    return new Date(year, month - 1, day + daysLater).toISOString()
  }
  const [since, until] = [midnight(filter('since'), 0), midnight(filter('until'), 1)]
  return { ...(since && { since }), ...(until && { until }) }
}

export default function AuditLog() {
  const query = {
    ...filters(
      'actor',
      'operation',
      'subject_type',
      'subject_id',
      'tenant_id',
      'request_id',
      'client_request_id',
      'credential_id',
    ),
    ...period(),
  }
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/audit_log', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 15_000 },
  )
  return (
    <Page
      title="Audit log"
      operation="listAuditLog"
      actions={<Link href="/admin/audit/checkpoints">Verify it</Link>}
    >
      <Filters
        fields={[
          { name: 'actor', label: 'Actor', search: true },
          { name: 'operation', label: 'Operation' },
          { name: 'subject_type', label: 'Subject' },
          { name: 'subject_id', label: 'Subject’s id' },
          { name: 'tenant_id', label: 'Tenant' },
          { name: 'since', label: 'From', type: 'date' },
          { name: 'until', label: 'To', type: 'date' },
          { name: 'request_id', label: 'Request' },
          { name: 'client_request_id', label: 'Client’s request' },
          { name: 'credential_id', label: 'Credential' },
        ]}
      />
      <Table
        label="Audit log, newest first"
        list={list}
        id={({ id }) => id}
        empty="No entry matches."
        columns={[
          {
            name: 'When',
            cell: ({ id, at }) => (
              <Link href={to`/admin/audit/${id}`}>
                <Time at={at} seconds />
              </Link>
            ),
          },
          { name: 'Actor', cell: ({ actor }) => actor },
          { name: 'Operation', cell: ({ operation }) => operation },
          { name: 'Action', cell: ({ action }) => <ActionBadge action={action} /> },
          { name: 'Subject', cell: ({ subject_type }) => subject_type.replaceAll('_', ' ') },
          { name: 'Subject’s id', cell: ({ subject_id }) => <span title={subject_id}>{subject_id}</span> },
          { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
        ]}
      />
    </Page>
  )
}

const TONES = { created: 'good', updated: 'busy', deleted: 'bad', requested: 'quiet' } as const

export const ActionBadge = ({ action }: { action: Action }) => <Badge tone={TONES[action]}>{action}</Badge>
