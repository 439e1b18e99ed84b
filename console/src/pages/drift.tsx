// What is not as it should be: the inbox of drift, and what to do about it, one by one or several at once.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { KINDS } from '../kinds.ts'
import { useList } from '../query.ts'
import { filters, Link, to } from '../router.tsx'
import { may } from '../session.tsx'
import { Badge, type Column, Filters, Missing, Page, Several, Table, Time, Value } from '../ui/index.ts'
import { acceptDrift, IgnoreDrift, nameOfDrift } from './drift-acts.tsx'

type Drift = Schemas['Drift']

const FIELDS = [
  { name: 'status', label: 'Status', any: 'open', options: ['accepted', 'reverted', 'stale'] },
  { name: 'kind', label: 'Kind', options: KINDS },
  { name: 'resource_id', label: 'Resource’s id', search: true },
  { name: 'ignored', label: 'Ignored ones instead', flag: true },
]

const columns = (onlyOpen: boolean): (Column<Drift> | false)[] => [
  {
    name: 'Resource',
    cell: ({ resource_id, name }) => <Link href={to`/inventory/${resource_id}`}>{name || resource_id}</Link>,
  },
  {
    name: 'Field',
    // Mismatches that a rule covers have no page: they never opened.
    cell: drift =>
      drift.status === 'ignored' ? (
        fieldName(drift)
      ) : (
        <Link href={to`/drift/${drift.id}`}>{fieldName(drift)}</Link>
      ),
  },
  {
    name: 'Desired',
    cell: ({ desired }) => (
      <span class="bad">
        <Value value={desired} />
      </span>
    ),
  },
  {
    name: 'Actual',
    cell: ({ actual }) => (
      <span class="good">
        <Value value={actual} />
      </span>
    ),
  },
  { name: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { name: 'Tenant', cell: ({ tenant_id }) => tenant_id ?? <Missing /> },
  !onlyOpen && { name: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  { name: 'Detected', cell: ({ detected_at }) => <Time at={detected_at} /> },
]

const fieldName = ({ field }: Drift) => (field === 'deleted_at' ? 'the resource is gone' : field)

export default function DriftPage() {
  const query = filters('status', 'kind', 'resource_id', 'ignored')
  const list = useList(
    (cursor, signal) => ok(api.GET('/api/v1/drift', { params: { query: { ...query, cursor } }, signal })),
    [query],
    { every: 15_000 },
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [acting, setActing] = useState<'accept' | 'ignore'>()
  const chosen = list.rows.filter(({ id, status }) => status === 'open' && selected.has(id))
  const actionable =
    list.rows.some(({ status }) => status === 'open') && (may('acceptDrift') || may('createIgnoreRule'))
  const close = () => {
    setActing(undefined)
    setSelected(new Set())
    list.reload()
  }
  return (
    <Page title="Drift" operation="listDrift" actions={<Link href="/drift/ignore-rules">Ignore rules</Link>}>
      <Filters fields={FIELDS} />
      {actionable && (
        <div class="actions selection">
          {may('acceptDrift') && (
            <button type="button" disabled={chosen.length === 0} onClick={() => setActing('accept')}>
              Accept selected
            </button>
          )}
          {may('createIgnoreRule') && (
            <button type="button" disabled={chosen.length === 0} onClick={() => setActing('ignore')}>
              Ignore selected…
            </button>
          )}
          <span class="quiet" role="status">
            {chosen.length > 0
              ? `${chosen.length} selected`
              : 'Accepting makes the actual value the desired one.'}
          </span>
        </div>
      )}
      <Table
        label="Drift"
        list={list}
        columns={columns(!query.status && !query.ignored)}
        id={({ id }) => id}
        empty="Nothing of this kind: resources with a desired state are as they should be, as of the last sweep."
        {...(actionable && { selected, onSelect: setSelected })}
      />
      {acting === 'accept' && (
        <Several
          title="Accept drift"
          items={chosen}
          name={nameOfDrift}
          act={acceptDrift}
          done="accepted"
          onClose={close}
        />
      )}
      {acting === 'ignore' && <IgnoreDrift drifts={chosen} onClose={close} />}
    </Page>
  )
}
