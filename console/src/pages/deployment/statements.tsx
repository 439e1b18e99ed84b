// What a deployment's months came to.
import { api, ok } from '../../api.ts'
import { useList } from '../../query.ts'
import { may } from '../../session.tsx'
import { Section } from '../../ui/index.ts'
import { StatementTable } from '../statement-table.tsx'

export function Statements({ id }: { id: string }) {
  const list = useList(
    (cursor, signal) =>
      ok(
        api.GET('/api/v1/deployments/{id}/statements', {
          params: { path: { id }, query: { cursor } },
          signal,
        }),
      ),
    [id],
    { when: may('listStatements') },
  )
  if (!may('listStatements')) return null
  return (
    <Section title="Statements">
      <StatementTable
        list={list}
        empty="None yet. A month is closed three days after its end, if there was a subscription in it."
      />
    </Section>
  )
}
