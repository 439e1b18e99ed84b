// cloudops tasks list, cloudops tasks run NAME [--wait]
import { type Command, CommandError, paint, print, table, usageError } from './command.ts'
import { RefusedError, type ServiceClient, serviceClient } from './service-client.ts'

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

export interface SweptKind {
  sweep_id: string
  kind: string
  started_at: string
  finished_at: string | null
  status: 'running' | 'complete' | 'partial' | 'failed' | 'unavailable'
  pages: number
  seen: number
  total: number | null
  inserted: number
  updated: number
  struck: number
  deleted: number
  restored: number
  held: number
  error: string | null
}

/** Fourteen kinds and the projects. */
const RUNS_OF_A_SWEEP = 15

/** The run of `resource_sync` that sent the sweep's jobs. Its id is the sweep's. */
interface SweepRequest {
  id: string
  requested_at: string
  started_at: string
}

/**
 * Shows how a sweep goes, kind by kind: a table that is redrawn on a terminal, elsewhere a line for each kind that ends.
 * Returns whether everything was read after the sweep was asked for.
 */
async function followSweep(client: ServiceClient, sweep: SweepRequest): Promise<boolean> {
  const live = process.stdout.isTTY
  const started = Date.now()
  const told = new Set<string>()
  let drawn = 0
  for (;;) {
    const { data } = await client.get<{ data: SweptKind[] }>('/api/v1/inventory/sync-runs?limit=100')
    const runs = runsOfSweep(data, sweep)
    const ended = runs.filter(run => run.status !== 'running')
    if (live) {
      if (drawn > 0) process.stdout.write(`\u001b[${drawn}A\u001b[0J`)
      const picture = draw(runs, Date.now() - started)
      print(picture)
      drawn = picture.split('\n').length
    } else {
      for (const run of ended.filter(({ kind }) => !told.has(kind))) {
        told.add(run.kind)
        print(lineOf(run))
      }
    }
    if (ended.length === RUNS_OF_A_SWEEP) {
      if (!lookedSince(ended, sweep)) return false
      conclude(ended)
      return true
    }
    await pause()
  }
}

/**
 * A kind that another sweep had queued or running when this one sent its jobs is not swept twice: then it is that sweep's
 * run which counts. It ended after this one had started to send. The newest runs come first.
 */
export function runsOfSweep(
  newest: SweptKind[],
  { id, started_at }: Pick<SweepRequest, 'id' | 'started_at'>,
): SweptKind[] {
  const byKind = new Map<string, SweptKind>()
  const counts = ({ sweep_id, finished_at }: SweptKind) =>
    sweep_id === id || finished_at === null || finished_at >= started_at
  for (const run of newest.filter(counts)) {
    if (!byKind.has(run.kind) || run.sweep_id === id) byKind.set(run.kind, run)
  }
  return [...byKind.values()]
}

/** Whether all of them began after the sweep was asked for, so that they have seen what was there then. */
export const lookedSince = (
  runs: SweptKind[],
  { requested_at }: Pick<SweepRequest, 'requested_at'>,
): boolean => runs.every(({ started_at }) => started_at >= requested_at)

function draw(runs: SweptKind[], elapsedMs: number): string {
  const rows = runs
    .toSorted((a, b) => a.kind.localeCompare(b.kind))
    .map(run => [
      run.kind,
      run.status,
      String(run.pages),
      rowsOf(run),
      String(run.inserted),
      String(run.updated),
      String(run.struck),
      String(run.deleted),
    ])
  const done = fractionDone(runs)
  const left = done > 0 ? `, about ${seconds((elapsedMs / done) * (1 - done))} left` : ''
  const summary = `${runs.filter(run => run.status !== 'running').length} of ${RUNS_OF_A_SWEEP} swept in ${seconds(elapsedMs)}${done < 1 ? left : ''}`
  return `${table(['KIND', 'STATUS', 'PAGES', 'ROWS', 'NEW', 'CHANGED', 'STRUCK', 'DELETED'], rows)}\n${paint('bold', summary)}`
}

/** Kinds that ended count whole, those under way by the rows they have seen. */
export function fractionDone(runs: SweptKind[]): number {
  const parts = runs.map(run =>
    run.status !== 'running' ? 1 : run.total ? Math.min(run.seen / run.total, 1) : 0,
  )
  return parts.reduce((sum, part) => sum + part, 0) / RUNS_OF_A_SWEEP
}

const rowsOf = ({ seen, total }: SweptKind) => (total === null ? String(seen) : `${seen}/${total}`)
const seconds = (ms: number) => `${Math.round(ms / 1000)} s`

function lineOf(run: SweptKind): string {
  const counts = `${run.pages} pages, ${rowsOf(run)} rows, ${run.inserted} new, ${run.updated} changed, ${run.restored} restored, ${run.struck} struck, ${run.deleted} deleted`
  return `${run.kind}: ${run.status} (${counts})${run.error ? `: ${run.error}` : ''}`
}

function conclude(runs: SweptKind[]): void {
  const held = runs.filter(run => run.held > 0)
  for (const { kind, held: count } of held)
    print(`${kind}: ${count} deletions are held; see /api/v1/inventory/sync-runs`)
  const incomplete = runs.filter(run => run.status !== 'complete')
  if (incomplete.length === 0) return
  const reasons = incomplete.map(
    ({ kind, status, error }) => `${kind} ${status}: ${error ?? 'no reason was recorded'}`,
  )
  throw new CommandError(
    `${incomplete.length} of ${runs.length} were not swept whole:\n${reasons.map(reason => `  - ${reason}`).join('\n')}`,
  )
}
