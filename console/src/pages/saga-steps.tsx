// The steps of a run over its time: when each began, how long it took, and when it was undone.
import type { Schemas } from '../api.ts'
import { Link, to } from '../router.tsx'
import { Badge, type Column, duration, Missing, Table, type Tone } from '../ui/index.ts'

type Run = Schemas['SagaRunWithSteps']
type Step = Schemas['SagaStep']

interface Row {
  index: number
  name: string
  step: Step | undefined
}

interface Props {
  run: Run
  steps: ReadonlyMap<number, Step>
  onWindow: (first: number, last: number) => void
}

export function Steps({ run, steps, onWindow }: Props) {
  const span = spanOf(run, steps)
  const rows = run.step_modules.map((name, index): Row => ({ index, name, step: steps.get(index) }))
  const columns: Column<Row>[] = [
    { name: '#', number: true, cell: ({ index }) => index + 1 },
    {
      name: 'Step',
      cell: ({ index, name }) => <Link href={to`/sagas/${run.id}?step=${String(index)}`}>{name}</Link>,
    },
    { name: 'Status', cell: ({ index, step }) => <StepStatus run={run} index={index} step={step} /> },
    {
      name: 'Took',
      number: true,
      cell: ({ step }) => (step?.duration_ms == null ? <Missing /> : duration(step.duration_ms)),
    },
    {
      name: `Over ${duration(span.end - span.start)}`,
      cell: ({ step }) => step && <Span step={step} {...span} />,
    },
    {
      name: 'Error',
      cell: ({ step }) => (step?.error ? <span title={step.error}>{step.error}</span> : <Missing />),
    },
  ]
  const undone = [...steps.values()].some(({ compensated_at }) => compensated_at)
  return (
    <>
      <Table
        label="Steps"
        list={{ rows }}
        columns={columns}
        id={({ index }) => String(index)}
        empty="It has no steps."
        onWindow={onWindow}
      />
      {undone && <p class="quiet">An upright mark is the moment in which a step was undone.</p>}
    </>
  )
}

const TONES: Record<Step['status'], Tone> = {
  completed: 'good',
  failed: 'bad',
  running: 'busy',
  compensated: 'quiet',
}

export const StepBadge = ({ status }: Pick<Step, 'status'>) => <Badge tone={TONES[status]}>{status}</Badge>

function StepStatus({ run, index, step }: { run: Run; index: number; step: Step | undefined }) {
  if (step) return <StepBadge status={step.status} />
  const begun = index < run.current_step_index || run.status === 'completed'
  return <span class="quiet">{begun ? '…' : run.finished_at ? 'not begun' : 'to come'}</span>
}

interface TimeSpan {
  start: number
  end: number
}

/** From the run's begin to its end; of one under way, to now as far as the steps' own times tell. */
function spanOf({ started_at, finished_at }: Run, steps: ReadonlyMap<number, Step>): TimeSpan {
  const start = Date.parse(started_at ?? '') || Date.now()
  if (finished_at) return { start, end: Math.max(start + 1, Date.parse(finished_at)) }
  let end = Math.max(start + 1, Date.now())
  for (const { started_at, finished_at } of steps.values())
    end = Math.max(end, Date.parse(finished_at ?? started_at))
  return { start, end }
}

function Span({ step, start, end }: { step: Step } & TimeSpan) {
  const at = (time: number) => Math.min(100, Math.max(0, ((time - start) / (end - start)) * 100))
  const from = at(Date.parse(step.started_at))
  const until = step.finished_at ? at(Date.parse(step.finished_at)) : 100
  return (
    <span class="span" aria-hidden="true">
      <span class={TONES[step.status]} style={{ left: `${from}%`, width: `${until - from}%` }} />
      {step.compensated_at && (
        <span class="undone" style={{ left: `${at(Date.parse(step.compensated_at))}%` }} />
      )}
    </span>
  )
}
