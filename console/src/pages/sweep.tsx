// One run of a sweep: what it saw, what it changed, and what it says of odd items.
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { Link } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { Badge, Facts, Page, Section, Shown, Time } from '../ui/index.ts'
import { ConfirmHeld } from './held-deletions.tsx'

export default function Sweep({ params: { id = '' } }: PageProps) {
  const query = useQuery(
    signal => ok(api.GET('/api/v1/inventory/sync-runs/{id}', { params: { path: { id } }, signal })),
    [id],
    { every: 10_000 },
  )
  const kind = query.data?.data.kind.replaceAll('_', ' ')
  return (
    <Page title={kind ? `Sweep of ${kind}s` : 'Sweep'} operation="getSyncRun">
      <Shown query={query}>
        {({ data: run }) => (
          <>
            <Facts
              facts={[
                ['Status', <Badge key="status">{run.status}</Badge>],
                ['Begun', <Time key="begun" at={run.started_at} seconds />],
                ['Ended', <Time key="ended" at={run.finished_at} seconds />],
                ['Seen', `${run.seen} of ${run.total ?? 'unknown'} on ${run.pages} pages`],
                ['New', String(run.inserted)],
                ['Changed', String(run.updated)],
                ['Missed this time', String(run.struck)],
                ['Deleted', String(run.deleted)],
                ['Restored', String(run.restored)],
                ['Held deletions', <ConfirmHeld key="held" run={run} done={query.reload} />],
                ['Confirmed', <Time key="confirmed" at={run.confirmed_at} />],
                ['Confirmed by', run.confirmed_by],
                ['Stored in part', String(run.cut)],
                ['Not stored', String(run.set_aside)],
                [
                  'Sweep',
                  <Link key="sweep" href={`/sweeps?sweep_id=${run.sweep_id}`}>
                    {run.sweep_id}
                  </Link>,
                ],
              ]}
            />
            {run.error && <p class="problem">{run.error}</p>}
            {run.remarks && (
              <Section title="Remarks">
                <p>{run.remarks}</p>
              </Section>
            )}
          </>
        )}
      </Shown>
    </Page>
  )
}
