// The browser's own dialog: it keeps the focus inside, closes on Escape and gives the focus back.
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAct } from '../query.ts'
import { type Values, valuesOf } from './form.tsx'
import { ProblemBanner } from './problem.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** Shown while it is rendered: `{open && <Dialog …>}`. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Open at once, and with the focus in its first field: the next key is meant for it.
  useLayoutEffect(() => {
    element.current?.showModal()
    element.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  }, [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps extends DialogProps {
  /** The name of what is destroyed, to be typed; none: a click is enough. */
  name?: string
  /** The word on the button: "Delete". */
  act: string
  /** Is given what was typed into `Field`s among the children. */
  run: (values: Values) => Promise<unknown>
}

/** Asks before an act, and shows why it was refused. Closes when it is done. */
export function Confirm({ title, name, act, run, onClose, children }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const { run: send, busy, problem } = useAct(run)
  const id = useId()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (await send(valuesOf(event.currentTarget as HTMLFormElement))) onClose()
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        {children}
        {name !== undefined && (
          <div class="field">
            <label for={id}>
              Type <strong>{name}</strong> to confirm
            </label>
            <input
              id={id}
              value={typed}
              autocomplete="off"
              onInput={event => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        {problem && <ProblemBanner problem={problem} />}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={name === undefined ? 'primary' : 'danger'}
            disabled={busy || (name !== undefined && typed !== name)}
          >
            {act}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
