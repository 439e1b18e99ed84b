// A change of a subscription: what it is and from when, then the month as it would end, then the change itself.
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../../api.ts'
import { useAct } from '../../query.ts'
import { announce, Dialog, Field, Form, ProblemBanner, type Values } from '../../ui/index.ts'
import { MonthPreview } from './month-preview.tsx'

interface Props {
  title: string
  /** The word on the button that makes it. */
  act: string
  /** Said when it is made. */
  done: string
  /** What the month would end with. */
  preview: (values: Values, effective: Effective) => Promise<Schemas['MonthPreview']>
  make: (values: Values, effective: Effective) => Promise<unknown>
  /** What else comes of it, beside the month; known with the preview. */
  also?: (month: Schemas['MonthPreview']) => ComponentChildren
  onClose: () => void
  /** Given what was typed before, to come back to. */
  children?: (typed: Values) => ComponentChildren
}

/** From when a change counts: `now`, `next_period` or a day. */
export interface Effective {
  effective_from?: string
}

export function ChangeDialog({ title, act, done, preview, make, also, onClose, children }: Props) {
  const [typed, setTyped] = useState<Values>({})
  const [month, setMonth] = useState<Schemas['MonthPreview']>()
  // The button that asked for it is gone: who reads the page by ear goes on with what came of it.
  const shown = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => shown.current?.focus(), [month])
  const made = useAct(async () => {
    await make(typed, effectiveOf(typed))
    announce(done)
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      {month ? (
        <>
          <div class="preview" tabIndex={-1} ref={shown}>
            <MonthPreview {...month} />
            {also?.(month)}
          </div>
          {made.problem && <ProblemBanner problem={made.problem} />}
          <footer>
            <button type="button" onClick={() => setMonth(undefined)}>
              Back
            </button>
            <button type="button" class="primary" disabled={made.busy} onClick={() => made.run()}>
              {act}
            </button>
          </footer>
        </>
      ) : (
        <Form
          submit="Preview"
          cancel={onClose}
          send={async values => {
            setTyped(values)
            setMonth(await preview(values, effectiveOf(values)))
          }}
        >
          {children?.(typed)}
          <When typed={typed} />
        </Form>
      )}
    </Dialog>
  )
}

const effectiveOf = ({ when, effective_from }: Values): Effective => {
  const from = when === 'day' ? effective_from : when
  return from ? { effective_from: from } : {}
}

const TIMES = [
  ['now', 'Now'],
  ['next_period', 'With the next month'],
  ['day', 'On a day'],
] as const

function When({ typed }: { typed: Values }) {
  const id = useId()
  const [when, setWhen] = useState(typed.when ?? 'now')
  return (
    <>
      <div class="field">
        <label for={id}>From when</label>
        <select id={id} name="when" value={when} onChange={event => setWhen(event.currentTarget.value)}>
          {TIMES.map(([value, text]) => (
            <option key={value} value={value} selected={value === when}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {when === 'day' && (
        <Field
          label="Day"
          name="effective_from"
          type="date"
          required
          value={typed.effective_from}
          help="From its first moment on, in UTC."
        />
      )}
    </>
  )
}
