// The step contract: a step carries its own undo. A workflow (a saga kind) is a list of steps, handed in from above, and
// the registry finds it by name.
import type { Logger } from 'pino'
import type { TSchema } from 'typebox'
import type { Executor } from '../../kernel/db/tables.ts'

/** A JSON object: what inputs, contexts and outputs are made of. */
export type Json = Record<string, unknown>

/** The live state of a run, as a step sees it. */
export interface SagaState {
  readonly sagaId: string
  /** Frozen: what the run was started with. */
  readonly inputs: Readonly<Json>
  /** What the steps before this one have written. */
  readonly context: Readonly<Json>
  /** The index of the step being run or undone. */
  readonly stepIndex: number
  /** Aborted when the step has taken too long, or its process stops or has lost the run. */
  readonly signal: AbortSignal
  readonly log: Logger
  /**
   * The step's way to the database: one transaction that waits while the database is away (the step's timeout does not
   * run then) and is refused when the run is another worker's by now. It is made again when the answer to its commit is
   * lost, so whatever it writes must be the same when written twice.
   */
  readonly transaction: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>
}

/**
 * `context` is added to the run's context; `output` is kept in the ledger. `unknown` says that the step cannot tell
 * whether it had an effect (a create whose answer was lost): its own compensate is then called too.
 */
export type Executed =
  | { ok: true; context?: Json; output?: Json }
  | { ok: false; reason: string; unknown?: boolean }
export type Compensated = { ok: true } | { ok: false; reason: string }

export interface Step {
  name: string
  /** How long execute, and compensate, may take; the runner has a default. */
  timeoutMs?: number
  /** Raising counts as an error with the raised message as its reason. */
  execute(state: SagaState): Promise<Executed>
  /** Also called when the outcome of execute is unknown: it must cope with effects that are there, half there or not. */
  compensate?(state: SagaState): Promise<Compensated>
}

/** What a run is about. */
export interface Prepared {
  /** Of one kind, at most one run with this key is under way. */
  businessKey: string
  deploymentId: string | null
  tenantId: string | null
  /** Replaces the inputs, where some of them are worked out (a default name, the deployment's region). */
  inputs?: Json
}

export interface SagaKind {
  kind: string
  /** What POST /sagas checks the inputs against; unknown fields are refused if it says so. The run's tenant reads them. */
  inputs: TSchema
  /** Refuses inputs that make no sense (AppError), inside the transaction that starts the run; no network calls. */
  prepare(tx: Executor, inputs: Json): Promise<Prepared>
  /** Their names are unique within the kind; a run keeps to the names it was started with. */
  steps: readonly Step[]
}

/** The workflows this version knows, by name. */
export interface Registry {
  names: string[]
  find(kind: string): SagaKind | undefined
  /** The names of each kind's steps. */
  known: Readonly<Record<string, readonly string[]>>
  /** The steps of these names; the index of the first that is not known, when there is one. */
  stepsOf(kind: string, names: readonly string[]): Step[] | { unknown: number }
}

/** A list that cannot be right is refused at the start, not in the middle of a run. */
export function registryOf(kinds: readonly SagaKind[]): Registry {
  const byName = new Map<string, { kind: SagaKind; steps: Map<string, Step> }>()
  for (const kind of kinds) {
    const steps = new Map(kind.steps.map(step => [step.name, step]))
    if (byName.has(kind.kind)) throw new Error(`there are two saga kinds ${kind.kind}`)
    if (steps.size === 0 || steps.size !== kind.steps.length)
      throw new Error(`the saga kind ${kind.kind} needs steps, each with a name of its own`)
    byName.set(kind.kind, { kind, steps })
  }
  return {
    names: [...byName.keys()],
    known: Object.fromEntries(kinds.map(({ kind, steps }) => [kind, steps.map(({ name }) => name)])),
    find: kind => byName.get(kind)?.kind,
    stepsOf(kind, names) {
      const known = byName.get(kind)?.steps
      const unknown = names.findIndex(name => !known?.has(name))
      return unknown === -1 ? names.map(name => known!.get(name)!) : { unknown }
    },
  }
}
