// What the checks found of one resource; nothing where there is nothing.
import { api, ok } from '../../api.ts'
import { useList } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { may } from '../../session.tsx'
import { Badge, Section, Table, Time } from '../../ui/index.ts'
import { Cost, SEVERITY_TONES } from '../findings/finding.tsx'

export function FindingsOf({ id }: { id: string }) {
  const allowed = may('listFindings')
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/findings', { params: { query: { resource_id: id, cursor } }, signal })),
    [id],
    { every: 60_000, when: allowed },
  )
  if (list.rows.length === 0 && !list.problem) return null
  return (
    <Section title="Findings">
      <Table
        label="Findings"
        list={list}
        id={finding => finding.id}
        empty=""
        columns={[
          {
            name: 'Finding',
            cell: finding => <Link href={to`/findings/${finding.id}`}>{finding.title}</Link>,
          },
          {
            name: 'Severity',
            cell: ({ severity }) => <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge>,
          },
          { name: 'Since', cell: ({ since }) => <Time at={since} /> },
          { name: 'A month', number: true, cell: finding => <Cost {...finding} /> },
        ]}
      />
    </Section>
  )
}
