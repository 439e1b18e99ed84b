// One drift: desired beside actual, and what to do about it.
import { useState } from 'preact/hooks'
import { api, ok } from '../api.ts'
import { useQuery } from '../query.ts'
import { Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may } from '../session.tsx'
import { ActButton, Badge, Facts, Page, Scroll, Section, Shown, Time } from '../ui/index.ts'
import { acceptDrift, IgnoreDrift, nameOfDrift } from './drift-acts.tsx'

export default function DriftDetail({ params: { id = '' } }: PageProps) {
  const query = useQuery(
    signal => ok(api.GET('/api/v1/drift/{id}', { params: { path: { id } }, signal })),
    [id],
    {
      every: 15_000,
    },
  )
  const [ignoring, setIgnoring] = useState(false)
  const drift = query.data?.data
  const accept = async () => {
    await acceptDrift(drift!)
    await query.reload()
  }
  const actions = drift?.status === 'open' && (
    <>
      <ActButton
        operation="acceptDrift"
        class="primary"
        run={accept}
        done="Accepted: the actual value is desired now."
      >
        Accept
      </ActButton>
      {may('createIgnoreRule') && (
        <button type="button" onClick={() => setIgnoring(true)}>
          Ignore…
        </button>
      )}
    </>
  )
  return (
    <Page title={drift ? nameOfDrift(drift) : 'Drift'} operation="getDrift" actions={actions}>
      <Shown query={query}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                ['Status', <Badge key="status">{data.status}</Badge>],
                [
                  'Resource',
                  <Link key="resource" href={to`/inventory/${data.resource_id}`}>
                    {data.name || data.resource_id}
                  </Link>,
                ],
                ['Kind', data.kind.replaceAll('_', ' ')],
                ['Tenant', data.tenant_id],
                ['Field', <code key="field">{data.field}</code>],
                ['Detected', <Time key="detected" at={data.detected_at} />],
                ['Last seen to differ', <Time key="last" at={data.last_detected_at} />],
                ['Resolved', <Time key="resolved" at={data.resolved_at} />],
                ['Resolved by', data.resolved_by],
              ]}
            />
            <div class="columns">
              <Section title="Desired">
                <Side label="Desired" value={data.desired} other={data.actual} tone="bad" />
              </Section>
              <Section title="Actual">
                <Side label="Actual" value={data.actual} other={data.desired} tone="good" />
              </Section>
            </div>
            {data.resource_deleted_at && (
              <p class="quiet">
                The resource was found to be gone. There is no actual value to accept: delete its desired
                state on the resource’s page, or provision it anew.
              </p>
            )}
            {ignoring && (
              <IgnoreDrift
                drifts={[data]}
                onClose={() => {
                  setIgnoring(false)
                  query.reload()
                }}
              />
            )}
          </>
        )}
      </Shown>
    </Page>
  )
}

const linesOf = (value: unknown) => JSON.stringify(value, null, 2).split('\n')
/** The last of a list has no comma: that makes no difference. */
const bare = (line: string) => line.replace(/,$/, '')

/** A value line by line, with those that the other side does not have in a colour and a mark. */
function Side({
  label,
  value,
  other,
  tone,
}: {
  label: string
  value: unknown
  other: unknown
  tone: 'good' | 'bad'
}) {
  const known = new Set(linesOf(other).map(bare))
  const mark = tone === 'bad' ? '−' : '+'
  return (
    <Scroll class="json" label={label}>
      <pre>
        {linesOf(value).map((line, i) => {
          const differs = !known.has(bare(line))
          return <span key={i} class={differs ? tone : undefined}>{`${differs ? mark : ' '} ${line}\n`}</span>
        })}
      </pre>
    </Scroll>
  )
}
