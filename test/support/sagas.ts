// Workflows of a test's own, and runs of them over HTTP and the real queue.
import assert from 'node:assert/strict'
import { Type } from 'typebox'
import type { Executed, Json, SagaKind, SagaState, Step } from '../../src/features/sagas/index.ts'
import { eventually } from './eventually.ts'
import type { Bundle } from './setup.ts'

export const base = '/api/v1/sagas'

export interface ShownStep {
  step_idx: number
  name: string
  status: string
  output: Json | null
  attempts: number
  started_at: string
  finished_at: string | null
  duration_ms: number | null
  compensated_at: string | null
  error: string | null
}

export interface ShownRun {
  id: string
  kind: string
  status: string
  step_modules: string[]
  current_step_index: number
  inputs: Json
  context: Json
  cancel_requested: boolean
  error: { step_idx: number; step: string; reason: string } | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  actor: string | null
  cancel_requested_by: string | null
  steps: ShownStep[]
}

/** What happened, in the order in which it did: `execute a`, `compensate a`. */
export type Journal = string[]

type Part = Partial<Pick<Step, 'compensate' | 'timeoutMs'>> & {
  execute?: (state: SagaState) => Promise<Executed>
  /** Without an undo. */
  final?: boolean
}

/** A step that keeps a journal, and does what the part says. */
export function step(name: string, journal: Journal, part: Part = {}): Step {
  const { execute, compensate, final, ...rest } = part
  return {
    name,
    ...rest,
    async execute(state) {
      journal.push(`execute ${name}`)
      return execute ? execute(state) : { ok: true, context: { [name]: true }, output: { did: name } }
    },
    ...(!final && {
      async compensate(state: SagaState) {
        journal.push(`compensate ${name}`)
        return compensate ? compensate(state) : { ok: true as const }
      },
    }),
  }
}

/** A workflow whose runs are told apart by an input `key`. */
export const kindOf = (kind: string, steps: Step[]): SagaKind => ({
  kind,
  inputs: Type.Object(
    {
      key: Type.String({ minLength: 1 }),
      size: Type.Optional(Type.Integer()),
      list: Type.Optional(Type.Array(Type.Unknown())),
    },
    { additionalProperties: false },
  ),
  prepare: async (_tx, inputs) => ({ businessKey: String(inputs.key), deploymentId: null, tenantId: null }),
  steps,
})

let made = 0

/** Starts a run and returns it as it was answered. */
export async function start({ call }: Bundle, kind: string, inputs: Json = {}): Promise<ShownRun> {
  const { status, body, text } = await call('POST', base, {
    body: { kind, inputs: { key: `k${++made}`, ...inputs } },
  })
  assert.equal(status, 202, text)
  return body.data
}

export async function show({ call }: Bundle, id: string): Promise<ShownRun> {
  const { status, body, text } = await call('GET', `${base}/${id}`)
  assert.equal(status, 200, text)
  return body.data
}

const ENDS = ['completed', 'failed', 'rolled_back']

/** The run once it has ended; by its id, or as it was shown before. */
export const ended = (bundle: Bundle, run: string | { id: string }): Promise<ShownRun> =>
  until(bundle, typeof run === 'string' ? run : run.id, ({ status }) => ENDS.includes(status))

/** The run once it is as wanted. */
export const until = (bundle: Bundle, id: string, wanted: (run: ShownRun) => boolean): Promise<ShownRun> =>
  eventually(`the run ${id} is as wanted`, async () => {
    const run = await show(bundle, id)
    return wanted(run) && run
  })

/** Starts a run and waits for its end. */
export const run = async (bundle: Bundle, kind: string, inputs?: Json): Promise<ShownRun> =>
  ended(bundle, (await start(bundle, kind, inputs)).id)

export const statuses = ({ steps }: ShownRun) => steps.map(({ status }) => status)

export interface Gate {
  /** Resolves when a step has come to the gate. */
  reached: Promise<void>
  open(): void
  pass(): Promise<void>
}

/** Holds a step until the test lets it go. */
export function gate(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: opened.resolve,
    pass() {
      reached.resolve()
      return opened.promise
    },
  }
}
