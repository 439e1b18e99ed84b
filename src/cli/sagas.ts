// cloudops sagas list, cloudops sagas show ID [--watch], cloudops sagas cancel ID
import { type Command, CommandError, paint, print, table, text, usageError } from './command.ts'
import { type ServiceClient, serviceClient } from './service-client.ts'

const base = '/api/v1/sagas'
const POLL_MS = 500
const SHOWN = 50

export const sagas: Command = {
  usage: 'list [--status STATUS] [--kind KIND] [--json] | show ID [--watch] [--json] | cancel ID',
  summary: 'List the runs of workflows, draw one as it goes, or cancel one.',
  details: [
    'Calls the service at CLOUDOPS_URL (default: HOST and PORT). `list` shows the latest 50 runs. `show` follows a run that',
    'is under way until it ends when it writes to a terminal, or with --watch; it then exits with 1 unless the run completes.',
  ].join('\n'),
  options: {
    status: { type: 'string' },
    kind: { type: 'string' },
    json: { type: 'boolean' },
    watch: { type: 'boolean' },
  },
  async run({ positionals: [action, id, ...rest], options }) {
    if (action === 'list' && id === undefined) {
      const filter = { status: text(options, 'status'), kind: text(options, 'kind') }
      return list(await serviceClient(), filter, options.json === true)
    }
    if (action === 'show' && id !== undefined && rest.length === 0) {
      return show(await serviceClient(), id, options.json === true, options.watch === true)
    }
    if (action === 'cancel' && id !== undefined && rest.length === 0) return cancel(await serviceClient(), id)
    throw usageError('sagas takes `list`, or `show` or `cancel` and the id of a run')
  },
}

async function list(
  client: ServiceClient,
  filter: Record<string, string | undefined>,
  json: boolean,
): Promise<void> {
  const query = new URLSearchParams({ limit: String(SHOWN) })
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value)
  const { data } = await client.get<{ data: DrawnRun[] }>(`${base}?${query}`)
  if (json) return print(JSON.stringify(data, null, 2))
  const rows = data.map(run => [
    run.id,
    run.kind,
    run.status,
    `${Math.min(run.current_step_index, run.step_modules.length)}/${run.step_modules.length}`,
    run.created_at,
    run.error?.reason ?? '',
  ])
  print(table(['ID', 'KIND', 'STATUS', 'STEPS', 'CREATED', 'ERROR'], rows))
}

const find = async (client: ServiceClient, id: string): Promise<DrawnRun> =>
  (await client.get<{ data: DrawnRun }>(`${base}/${encodeURIComponent(id)}`)).data

async function show(client: ServiceClient, id: string, json: boolean, watch: boolean): Promise<void> {
  const run = await find(client, id)
  if (json) return print(JSON.stringify(run, null, 2))
  const live = process.stdout.isTTY === true
  if (hasEnded(run) || !(watch || live)) return print(drawRun(run, Date.now()))
  return live ? redraw(client, run) : tell(client, run)
}

/** On a terminal the picture is drawn over itself. */
async function redraw(client: ServiceClient, first: DrawnRun): Promise<void> {
  for (let run = first, lines = 0; ; run = await find(client, run.id)) {
    if (lines > 0) process.stdout.write(`\u001b[${lines}A\u001b[0J`)
    const picture = drawRun(run, Date.now())
    print(picture)
    lines = picture.split('\n').length
    if (hasEnded(run)) return conclude(run)
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

/** Elsewhere each change is a line. */
async function tell(client: ServiceClient, first: DrawnRun): Promise<void> {
  const told = new Map<number, string>()
  for (let run = first; ; run = await find(client, run.id)) {
    for (const step of run.steps) {
      if (told.get(step.step_idx) !== step.status) print(lineOf(step, Date.now()))
      told.set(step.step_idx, step.status)
    }
    if (hasEnded(run)) {
      print(`${run.kind}: ${run.status}`)
      return conclude(run)
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}

function conclude({ status, error }: DrawnRun): void {
  if (status !== 'completed')
    throw new CommandError(`${status}: ${error?.reason ?? 'no reason was recorded'}`)
}

async function cancel(client: ServiceClient, id: string): Promise<void> {
  const { data } = await client.post<{ data: DrawnRun }>(`${base}/${encodeURIComponent(id)}/cancel`)
  print(`${data.kind}: ${data.status}, cancel requested`)
}

export interface DrawnStep {
  step_idx: number
  name: string
  status: 'running' | 'completed' | 'failed' | 'compensated'
  started_at: string
  duration_ms: number | null
  error: string | null
}

export interface DrawnRun {
  id: string
  kind: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'compensating' | 'rolled_back'
  step_modules: string[]
  current_step_index: number
  cancel_requested: boolean
  error: { step_idx: number; step: string | null; reason: string } | null
  created_at: string
  steps: DrawnStep[]
}

const MARKS = {
  running: ['cyan', '●'],
  completed: ['green', '✔'],
  failed: ['red', '✖'],
  compensated: ['yellow', '↩'],
} as const

const COLOURS = {
  pending: 'dim',
  running: 'cyan',
  completed: 'green',
  compensating: 'yellow',
  rolled_back: 'yellow',
  failed: 'red',
} as const

const hasEnded = ({ status }: DrawnRun): boolean =>
  status === 'completed' || status === 'failed' || status === 'rolled_back'

/** One line for each of its steps, those to come included. */
export function drawRun(run: DrawnRun, now: number): string {
  const { kind, id, status, step_modules: names, steps, error } = run
  const width = Math.max(...names.map(name => name.length))
  const lines = names.map((name, index) => {
    const step = steps.find(({ step_idx }) => step_idx === index)
    return step ? lineOf(step, now, width) : paint('dim', `  · ${name}`)
  })
  const cancelled = run.cancel_requested && !hasEnded(run) ? paint('yellow', ', cancel requested') : ''
  return [
    `${paint('bold', kind)} ${id}: ${paint(COLOURS[status], status)}${cancelled}`,
    ...lines,
    ...(error ? [paint(COLOURS[status], `step ${error.step_idx} (${error.step}): ${error.reason}`)] : []),
  ].join('\n')
}

function lineOf(step: DrawnStep, now: number, width = step.name.length): string {
  const [colour, mark] = MARKS[step.status]
  const ms = step.duration_ms ?? Math.max(0, now - Date.parse(step.started_at))
  const words = `${step.name.padEnd(width)}  ${step.status.padEnd('compensated'.length)}  ${duration(ms)}`
  return `  ${paint(colour, mark)} ${words}${step.error ? `  ${paint('red', step.error)}` : ''}`
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}
