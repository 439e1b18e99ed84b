// What is wasted, open or nobody's, and what it costs a month: the costliest first, one by one or several snoozed at once.
import { useState } from 'preact/hooks'
import { api, ok } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList, useQuery } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { may, seesAllTenants } from '../session.tsx'
import { Badge, type Column, type FilterField, Filters, Missing, Page, Table, Time } from '../ui/index.ts'
import { type Check, Cost, type Finding, SEVERITY_TONES, Subject } from './findings/finding.tsx'
import { SnoozeFindings } from './findings/snooze.tsx'
import { Sum } from './findings/sum.tsx'

const fields = (checks: Check[]): FilterField[] => [
  { name: 'check', label: 'Check', options: checks.map(({ name, title }) => ({ value: name, text: title })) },
  {
    name: 'category',
    label: 'Category',
    options: [...new Set(checks.map(({ category }) => category))],
  },
  { name: 'severity', label: 'Severity', options: ['high', 'medium', 'low'] },
  { name: 'kind', label: 'Kind', options: KINDS },
  ...(seesAllTenants() ? [{ name: 'tenant_id', label: 'Tenant', search: true }] : []),
  { name: 'deployment_id', label: 'Deployment' },
  { name: 'resource_id', label: 'Resource’s id' },
  { name: 'status', label: 'Status', any: 'open', options: ['snoozed', 'closed'] },
]

const columns = (status: string | undefined): (Column<Finding> | false)[] => [
  {
    name: 'Finding',
    cell: ({ id, title }) => <Link href={to`/findings/${id}`}>{title}</Link>,
  },
  { name: 'About', cell: finding => <Subject {...finding} /> },
  seesAllTenants() && { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
  {
    name: 'Severity',
    cell: ({ severity }) => <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge>,
  },
  { name: 'Since', cell: ({ since }) => <Time at={since} /> },
  status === 'snoozed' && { name: 'Snoozed until', cell: ({ snoozed_until }) => <Time at={snoozed_until} /> },
  status === 'closed' && { name: 'Closed', cell: ({ closed_at }) => <Time at={closed_at} /> },
  { name: 'A month', number: true, cell: finding => <Cost {...finding} /> },
]

export default function Findings() {
  const query = filters(
    'check',
    'category',
    'severity',
    'kind',
    'tenant_id',
    'deployment_id',
    'resource_id',
    'status',
  )
  const checks = useQuery(signal => ok(api.GET('/api/v1/findings/checks', { signal })), [])
  const summary = useQuery(signal => ok(api.GET('/api/v1/findings/summary', { signal })), [], {
    every: 30_000,
  })
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/findings', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 30_000 },
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [snoozing, setSnoozing] = useState<Finding[]>()
  const chosen = list.rows.filter(({ id, status }) => status === 'open' && selected.has(id))
  const actionable = may('snoozeFinding') && list.rows.some(({ status }) => status === 'open')
  const close = () => {
    setSnoozing(undefined)
    setSelected(new Set())
    list.reload()
    summary.reload()
  }
  return (
    <Page title="Findings" operation="listFindings">
      <Sum summary={summary} />
      <Filters fields={fields(checks.data?.data ?? [])} />
      {actionable && (
        <div class="actions selection">
          <button type="button" disabled={chosen.length === 0} onClick={() => setSnoozing(chosen)}>
            Snooze selected…
          </button>
          <span class="quiet" role="status">
            {chosen.length > 0
              ? `${chosen.length} selected`
              : 'A finding closes by itself when what it names is mended.'}
          </span>
        </div>
      )}
      <Table
        label="Findings"
        list={list}
        columns={columns(query.status)}
        id={({ id }) => id}
        empty="Nothing found. The checks run after every whole sweep of the provider."
        {...(actionable && { selected, onSelect: setSelected })}
      />
      {snoozing && <SnoozeFindings findings={snoozing} onClose={close} />}
    </Page>
  )
}
