// cloudops tasks list, cloudops tasks run NAME [--wait]
import { type Command, CommandError, usageError } from './command.ts'
import { RefusedError, type ServiceClient, serviceClient } from './service-client.ts'
import { followSweep } from './sweep-progress.ts'
import { paint, print, table } from './terminal.ts'

interface Run {
  id: string
  task: string
  status: 'queued' | 'running' | 'completed' | 'failed' | 'skipped'
  requested_at: string
  started_at: string | null
  finished_at: string | null
  error: string | null
}

interface Task {
  name: string
  queue: string
  cron: string
  paused: boolean
  last_run: Run | null
  next_run_at: string | null
}

const base = '/api/v1/admin/scheduled_tasks'
const POLL_MS = 500

export const tasks: Command = {
  usage: 'list [--json] | run NAME [--wait]',
  summary: 'List the scheduled tasks of the running service, or run one now.',
  details:
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). `run --wait` waits for a run that is under way, then for its own, and exits with 1 when that fails.',
  options: { json: { type: 'boolean' }, wait: { type: 'boolean' } },
  async run({ positionals: [action, name, ...rest], options }) {
    if (action === 'list' && name === undefined) return list(await serviceClient(), options.json === true)
    if (action === 'run' && name !== undefined && rest.length === 0) {
      return runNow(await serviceClient(), name, options.wait === true)
    }
    throw usageError('tasks takes `list`, or `run` and the name of a task')
  },
}

async function list(client: ServiceClient, json: boolean): Promise<void> {
  const { data } = await client.get<{ data: Task[] }>(`${base}?limit=500`)
  if (json) return print(JSON.stringify(data, null, 2))
  const rows = data.map(task => [
    task.name,
    task.cron,
    task.queue,
    task.paused ? 'paused' : (task.next_run_at ?? ''),
    task.last_run ? `${task.last_run.status} ${task.last_run.finished_at ?? ''}` : 'never',
  ])
  print(table(['NAME', 'CRON (UTC)', 'QUEUE', 'NEXT RUN', 'LAST RUN'], rows))
}

const pause = () => new Promise(resolve => setTimeout(resolve, POLL_MS))

/** One that is under way may have begun before what its successor is to see: who waits, waits for both. */
async function request(client: ServiceClient, name: string, wait: boolean): Promise<Run> {
  for (let told = false; ; told = true) {
    try {
      return (await client.post<{ data: Run }>(`${base}/${encodeURIComponent(name)}/run`)).data
    } catch (error) {
      if (!wait || !(error instanceof RefusedError) || error.code !== 'already_running') throw error
      if (!told) print(`${name}: one is under way, waiting for it to end`)
      await pause()
    }
  }
}

async function runNow(client: ServiceClient, name: string, wait: boolean): Promise<void> {
  const requested = await request(client, name, wait)
  print(`${requested.task}: ${requested.status} (run ${requested.id})`)
  if (!wait) return
  for (let shown: string = requested.status; ; ) {
    const { data: run } = await client.get<{ data: Run }>(`${base}/${requested.task}/runs/${requested.id}`)
    if (run.status !== shown)
      print(`${run.task}: ${paint(run.status === 'failed' ? 'red' : 'green', run.status)}`)
    shown = run.status
    // The sweep's task only sends its jobs; what they do is followed kind by kind.
    if (run.status === 'completed' && run.task === 'resource_sync') {
      if (await followSweep(client, { ...run, started_at: run.started_at! })) return
      print('another sweep had begun with some of it before: sweeping again')
      return runNow(client, name, wait)
    }
    if (run.status === 'completed' || run.status === 'skipped') return
    if (run.status === 'failed')
      throw new CommandError(`${run.task} failed: ${run.error ?? 'no reason was recorded'}`)
    await pause()
  }
}
