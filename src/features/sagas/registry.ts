// The workflows this version knows, by name. A list that cannot be right is refused at the start, not in the middle of a
// run.
import type { SagaKind, Step } from './step.ts'

export interface Registry {
  names: string[]
  find(kind: string): SagaKind | undefined
  /** The names of each kind's steps. */
  known: Readonly<Record<string, readonly string[]>>
  /** The steps of these names; the index of the first that is not known, when there is one. */
  stepsOf(kind: string, names: readonly string[]): Step[] | { unknown: number }
}

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
