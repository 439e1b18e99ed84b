// One run of a workflow: what was ordered and by whom, its steps over time, and what each of them left.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ok, once, type Schemas } from '../api.ts'
import { useQuery } from '../query.ts'
import { filter, Link, to } from '../router.tsx'
import type { PageProps } from '../routes.ts'
import { may, seesAllTenants } from '../session.tsx'
import {
  announce,
  Badge,
  Confirm,
  duration,
  Empty,
  Facts,
  Json,
  Page,
  Section,
  Shown,
  Time,
} from '../ui/index.ts'
import { hasEnded, useRun } from './saga-run.ts'
import { StepBadge, Steps } from './saga-steps.tsx'
import { deploymentOf, lasted } from './sagas.tsx'

type Run = Schemas['SagaRunWithSteps']
type Step = Schemas['SagaStep']

export default function SagaPage({ params: { id = '' } }: PageProps) {
  const run = useRun(id)
  const [cancelling, setCancelling] = useState(false)
  const shown = run.query.data?.data
  const title = shown ? shown.kind.replaceAll('_', ' ') : 'Saga'
  const actions = shown && may('cancelSaga') && !hasEnded(shown) && !shown.cancel_requested && (
    <button type="button" onClick={() => setCancelling(true)}>
      Cancel the run…
    </button>
  )
  return (
    <Page title={title} operation="getSaga" actions={actions}>
      <Shown query={run.query}>
        {({ data }) => (
          <>
            <RunFacts run={data} />
            {data.error && <Why id={id} error={data.error} />}
            <Section title="Steps">
              <Steps run={data} steps={run.steps} onWindow={run.look} />
            </Section>
            <ChosenStep run={data} steps={run.steps} />
            <div class="columns">
              <Section title="Inputs">
                <Json label="Inputs" value={data.inputs} />
              </Section>
              {seesAllTenants() && (
                <Section title="Context">
                  <Json label="Context" value={data.context} />
                </Section>
              )}
            </div>
          </>
        )}
      </Shown>
      {cancelling && shown && (
        <Cancel run={shown} onClose={() => setCancelling(false)} done={run.query.reload} />
      )}
    </Page>
  )
}

function RunFacts({ run }: { run: Run }) {
  const deployment = deploymentOf(run)
  return (
    <Facts
      facts={[
        ['Status', <Badge key="status">{run.status}</Badge>],
        ['Took', lasted(run)],
        [
          'Deployment',
          deployment && (
            <Link key="deployment" href={to`/deployments/${deployment}`}>
              {deployment}
            </Link>
          ),
        ],
        ...(seesAllTenants() ? ([['Started by', run.actor]] as [string, string | null][]) : []),
        ['Ordered', <Time key="ordered" at={run.created_at} seconds />],
        ['Begun', <Time key="begun" at={run.started_at} seconds />],
        ['Ended', <Time key="ended" at={run.finished_at} seconds />],
        ...(run.cancel_requested
          ? ([['Cancelled by', run.cancel_requested_by ?? 'an operator']] as [string, string][])
          : []),
      ]}
    />
  )
}

const Why = ({ id, error: { step, step_idx, reason } }: { id: string; error: NonNullable<Run['error']> }) => (
  <p class="problem">
    <strong>It did not complete.</strong> Step {step_idx + 1}
    {step && (
      <>
        , <Link href={to`/sagas/${id}?step=${String(step_idx)}`}>{step}</Link>
      </>
    )}
    : {reason}
  </p>
)

/** The one of the address, or the one that matters: which failed, which is under way, the last. */
function ChosenStep({ run, steps }: { run: Run; steps: ReadonlyMap<number, Step> }) {
  const { id, error, current_step_index, step_modules } = run
  const chosen = filter('step')
  const index = Number(chosen ?? error?.step_idx ?? Math.min(current_step_index, step_modules.length - 1))
  // Far from those in sight, it is asked for by itself.
  const alone = useQuery(
    signal => {
      const query = { from: index, limit: 1 }
      return ok(api.GET('/api/v1/sagas/{id}/steps', { params: { path: { id }, query }, signal }))
    },
    [id, index],
    { when: index <= current_step_index && !steps.has(index) },
  )
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (chosen !== undefined) place.current?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const name = step_modules[index]
  if (!name) return null
  const step = steps.get(index) ?? alone.data?.data[0]
  return (
    <div ref={place}>
      <Section title={`Step ${index + 1}: ${name}`}>
        {step ? <StepFacts step={step} /> : <Empty>It has not begun.</Empty>}
      </Section>
    </div>
  )
}

const StepFacts = ({ step }: { step: Step }) => (
  <>
    <Facts
      facts={[
        ['Status', <StepBadge key="status" status={step.status} />],
        ['Took', step.duration_ms === null ? null : duration(step.duration_ms)],
        ['Attempts', String(step.attempts)],
        ['Begun', <Time key="begun" at={step.started_at} seconds />],
        ['Ended', <Time key="ended" at={step.finished_at} seconds />],
        ['Undone', <Time key="undone" at={step.compensated_at} seconds />],
      ]}
    />
    {step.error && <p class="problem">{step.error}</p>}
    {step.output && <Json label={`Output of ${step.name}`} value={step.output} />}
  </>
)

function Cancel({ run, onClose, done }: { run: Run; onClose: () => void; done: () => Promise<void> }) {
  const cancel = async () => {
    await ok(api.POST('/api/v1/sagas/{id}/cancel', { params: { path: { id: run.id } }, headers: once() }))
    announce('Cancelled: it turns back before its next step.')
    await done()
  }
  return (
    <Confirm title="Cancel the run" name={run.kind} act="Cancel the run" run={cancel} onClose={onClose}>
      <p>
        It turns back before its next step and undoes what was done: what it made at the provider is destroyed
        again. During the last step a cancel comes too late.
      </p>
    </Confirm>
  )
}
