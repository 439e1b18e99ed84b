import type { ComponentChildren } from 'preact'
import type { Problem } from '../api.ts'
import { useAct } from '../query.ts'
import { may, type OperationId } from '../session.tsx'
import { announce } from './notices.tsx'

interface Props {
  /** The operation it calls: who may not call it does not see the button. */
  operation: OperationId
  run: () => Promise<unknown>
  /** Said when it is done. */
  done: string
  children: ComponentChildren
  class?: string
  /** Where the text alone does not say what it acts on. */
  label?: string
}

/** One click, one call. Acts that destroy go through `Confirm`. */
export function ActButton({ operation, run, done, children, label, class: className }: Props) {
  const act = useAct(async () => {
    try {
      await run()
      announce(done)
    } catch (problem) {
      announce(problem as Problem)
    }
  })
  if (!may(operation)) return null
  return (
    <button type="button" class={className} disabled={act.busy} aria-label={label} onClick={() => act.run()}>
      {children}
    </button>
  )
}
