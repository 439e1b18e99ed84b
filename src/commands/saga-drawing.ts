// How a run of a workflow is drawn: one line for each of its steps, those to come included.
import { paint } from './terminal.ts'

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

export const hasEnded = ({ status }: DrawnRun): boolean =>
  status === 'completed' || status === 'failed' || status === 'rolled_back'

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

export function lineOf(step: DrawnStep, now: number, width = step.name.length): string {
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
