// A run as it goes: asked for with the steps in sight, so that one of 20,000 costs no more than one of six.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, ok, type Schemas } from '../api.ts'
import { type Query, useQuery } from '../query.ts'

type Run = Schemas['SagaRunWithSteps']
type Step = Schemas['SagaStep']

export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'rolled_back'

const AT_ONCE = 200
const WHILE_IT_RUNS = 2_000
/** Whoever drags the bar past thousands of steps asks for those where it stops. */
const SETTLED_AFTER = 80

export interface LiveRun {
  query: Query<{ data: Run }>
  /** By their index; those that were in sight at some time. */
  steps: ReadonlyMap<number, Step>
  /** The steps from `first` to before `last` are in sight. */
  look: (first: number, last: number) => void
}

export function useRun(id: string): LiveRun {
  const [ended, setEnded] = useState(false)
  const from = useRef(0)
  const steps = useRef(new Map<number, Step>()).current
  const query = useQuery(
    async signal => {
      const path = { id }
      const part = { from: from.current, limit: AT_ONCE }
      const [answer, ledger] = await Promise.all([
        ok(api.GET('/api/v1/sagas/{id}', { params: { path, query: { steps: false } }, signal })),
        ok(api.GET('/api/v1/sagas/{id}/steps', { params: { path, query: part }, signal })),
      ])
      // What was read while it ran may have been undone since.
      if (hasEnded(answer.data) && !ended) steps.clear()
      for (const step of ledger.data) steps.set(step.step_idx, step)
      setEnded(hasEnded(answer.data))
      return answer
    },
    [id],
    ended ? {} : { every: WHILE_IT_RUNS },
  )
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const look = (first: number, last: number) => {
    const run = query.data?.data
    if (!run) return
    const begun = Math.min(last, run.current_step_index + 1, run.step_modules.length)
    let known = hasEnded(run)
    for (let index = first; known && index < begun; index++) known = steps.has(index)
    clearTimeout(timer.current)
    if (known) return
    timer.current = setTimeout(() => {
      from.current = Math.max(0, Math.floor((first + last - AT_ONCE) / 2))
      query.reload()
    }, SETTLED_AFTER)
  }
  return { query, steps, look }
}
