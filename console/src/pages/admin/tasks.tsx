// What runs by itself: when it last did, when it will, run now, pause.
import { api, ok, type Schemas } from '../../api.ts'
import { useList } from '../../query.ts'
import { Link, to } from '../../router.tsx'
import { ActButton, Badge, Missing, Page, Table, Time } from '../../ui/index.ts'

type Task = Schemas['ScheduledTask']

export default function Tasks() {
  const list = useList(
    (cursor, signal) =>
      ok(api.GET('/api/v1/admin/scheduled_tasks', { params: { query: { cursor } }, signal })),
    [],
    { every: 5_000 },
  )
  return (
    <Page title="Scheduled tasks" operation="listScheduledTasks">
      <Table
        label="Scheduled tasks"
        list={list}
        id={({ name }) => name}
        empty="No worker has registered its tasks yet."
        columns={[
          { name: 'Task', cell: ({ name }) => <Link href={to`/admin/tasks/${name}`}>{name}</Link> },
          { name: 'Schedule (UTC)', cell: ({ cron }) => <code>{cron}</code> },
          { name: 'Last run', cell: ({ last_run }) => <LastRun run={last_run} /> },
          {
            name: 'Next run',
            cell: ({ paused, next_run_at }) => (paused ? <Badge>paused</Badge> : <Time at={next_run_at} />),
          },
          { name: 'Actions', cell: task => <TaskActs task={task} done={list.reload} class="plain" /> },
        ]}
      />
    </Page>
  )
}

const LastRun = ({ run }: { run: Schemas['TaskRun'] | null }) =>
  run ? (
    <>
      <Badge {...(run.finished_at ? {} : { tone: 'busy' as const })}>{run.status}</Badge>{' '}
      <Time at={run.finished_at ?? run.requested_at} />
    </>
  ) : (
    <Missing />
  )

/** Run now, and pause or resume: in the list and on the task's page. */
export function TaskActs({ task, done, ...rest }: { task: Task; done: () => Promise<void>; class?: string }) {
  const { name, paused } = task
  const params = { path: { name } }
  return (
    <span class="acts">
      <ActButton
        operation="runTask"
        label={`Run now: ${name}`}
        done={`${name} is queued`}
        run={async () => {
          await ok(api.POST('/api/v1/admin/scheduled_tasks/{name}/run', { params }))
          await done()
        }}
        {...rest}
      >
        Run now
      </ActButton>
      <ActButton
        key={String(paused)}
        operation={paused ? 'resumeTask' : 'pauseTask'}
        label={`${paused ? 'Resume' : 'Pause'} ${name}`}
        done={`${name} is ${paused ? 'resumed' : 'paused'}`}
        run={async () => {
          await ok(
            paused
              ? api.POST('/api/v1/admin/scheduled_tasks/{name}/resume', { params })
              : api.POST('/api/v1/admin/scheduled_tasks/{name}/pause', { params }),
          )
          await done()
        }}
        {...rest}
      >
        {paused ? 'Resume' : 'Pause'}
      </ActButton>
    </span>
  )
}
