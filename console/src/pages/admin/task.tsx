// One scheduled task: what it does, and what came of each of its runs.
import { useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../../api.ts'
import { useList, useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import {
  Empty,
  Facts,
  Loading,
  Page,
  ProblemBanner,
  Section,
  Shown,
  Time,
  Timeline,
  type TimelineItem,
} from '../../ui/index.ts'
import { TaskActs } from './tasks.tsx'

type Run = Schemas['TaskRun']

export default function TaskPage({ params: { name = '' } }: PageProps) {
  const params = { path: { name } }
  const task = useQuery(
    signal => ok(api.GET('/api/v1/admin/scheduled_tasks/{name}', { params, signal })),
    [name],
    { every: 5_000 },
  )
  const [underWay, setUnderWay] = useState(false)
  const runs = useList(
    async (cursor, signal) => {
      const query = { cursor }
      const page = await ok(
        api.GET('/api/v1/admin/scheduled_tasks/{name}/runs', { params: { ...params, query }, signal }),
      )
      if (!cursor) setUnderWay(page.data.some(({ finished_at }) => !finished_at))
      return page
    },
    [name],
    // Whoever has pressed the button waits for what comes of it.
    { every: underWay ? 1_000 : 5_000 },
  )
  const reload = async () => void (await Promise.all([task.reload(), runs.reload()]))
  const found = task.data?.data
  return (
    <Page
      title={name}
      operation="getScheduledTask"
      actions={found && <TaskActs task={found} done={reload} />}
    >
      <Shown query={task}>
        {({ data }) => (
          <>
            <p>{data.description}</p>
            <Facts
              facts={[
                ['Schedule (UTC)', <code key="cron">{data.cron}</code>],
                ['Queue', data.queue],
                ['Next run', data.paused ? 'paused' : <Time key="next" at={data.next_run_at} />],
                ...(data.paused
                  ? ([
                      ['Paused', <Time key="paused" at={data.paused_at} />],
                      ['Paused by', data.paused_by],
                    ] as [string, preact.ComponentChildren][])
                  : []),
              ]}
            />
          </>
        )}
      </Shown>
      <Section title="Runs">
        {runs.problem && <ProblemBanner problem={runs.problem} retry={runs.reload} />}
        {runs.loading && <Loading />}
        {!runs.loading && !runs.problem && runs.rows.length === 0 && <Empty>It has not run yet.</Empty>}
        <Timeline label="Runs, newest first" items={runs.rows.map(itemOf)} />
        {runs.more && (
          <button type="button" disabled={runs.loadingMore} onClick={runs.more}>
            Earlier
          </button>
        )}
      </Section>
    </Page>
  )
}

const TONES: Record<Run['status'], NonNullable<TimelineItem['tone']>> = {
  queued: 'busy',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  skipped: 'quiet',
}

function itemOf(run: Run): TimelineItem {
  const { id: key, status, trigger, requested_by, requested_at: at, attempts, error } = run
  return {
    key,
    at,
    tone: TONES[status],
    title: (
      <>
        <span class={TONES[status]}>{status}</span>{' '}
        <span class="quiet">
          {trigger === 'manual' ? `asked for by ${requested_by ?? 'somebody'}` : 'by its schedule'}
          {took(run)}
          {attempts > 1 && `, ${attempts} attempts`}
        </span>
      </>
    ),
    body: error && <p class="bad words">{error}</p>,
  }
}

function took({ started_at, finished_at }: Run): string {
  if (!started_at || !finished_at) return ''
  const seconds = (Date.parse(finished_at) - Date.parse(started_at)) / 1000
  return `, took ${seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds / 60)} min`}`
}
