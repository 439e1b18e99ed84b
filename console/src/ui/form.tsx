// A form whose fields keep what was typed whatever happens to the call, and show what the API says of each of them.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useId } from 'preact/hooks'
import type { Problem } from '../api.ts'
import { useAct } from '../query.ts'
import { ProblemBanner } from './problem.tsx'

/** What was typed, trimmed; a field left empty is absent, a ticked box is 'on'. */
export type Values = Record<string, string>

export const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries(
    [...new FormData(form)]
      .map(([name, value]) => [name, String(value).trim()])
      .filter(([, value]) => value !== ''),
  )

/** What `datetime-local` says, as the API takes it. */
export const instantOf = (local: string | undefined): string | undefined =>
  local && new Date(local).toISOString()

const Refused = createContext<Problem['errors']>([])

interface FormProps {
  children: ComponentChildren
  /** The word on the button. */
  submit: string
  send: (values: Values) => Promise<unknown>
  /** After the call has succeeded; the form is emptied. */
  done?: () => void
  cancel?: () => void
}

export function Form({ children, submit, send, done, cancel }: FormProps) {
  const act = useAct(send)
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    if (!(await act.run(valuesOf(form)))) return
    form.reset()
    done?.()
  }
  // The rest of what is wrong stands above the button.
  const errors = act.problem?.errors ?? []
  return (
    <form onSubmit={onSubmit}>
      <Refused.Provider value={errors}>{children}</Refused.Provider>
      {act.problem && <ProblemBanner problem={act.problem} />}
      <footer>
        {cancel && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" disabled={act.busy}>
          {submit}
        </button>
      </footer>
    </form>
  )
}

export type Option = string | { value: string; text: string }

interface FieldProps {
  label: string
  /** The body's member: an error of the API with the pointer `/name` is shown at it. */
  name: string
  help?: string
  required?: boolean
  value?: string
  /** `textarea` for longer texts, `secret` for those nobody should read off the screen, `checkbox` for yes and no. */
  type?:
    | 'text'
    | 'number'
    | 'email'
    | 'url'
    | 'password'
    | 'date'
    | 'month'
    | 'datetime-local'
    | 'textarea'
    | 'secret'
    | 'checkbox'
  options?: readonly Option[]
  /** What may be chosen beside typing it. */
  suggestions?: readonly Option[]
  pattern?: string
  min?: number | string
  max?: number | string
  step?: number | string
  maxLength?: number
}

/** What the API says of one member of the body. */
export const useRefusal = (name: string): string | undefined =>
  useContext(Refused).find(({ pointer }) => pointer === `/${name}` || pointer.startsWith(`/${name}/`))
    ?.message

export function Field({
  label,
  name,
  help,
  value,
  type = 'text',
  options,
  suggestions,
  ...rest
}: FieldProps) {
  const id = useId()
  const message = useRefusal(name)
  const described = help || message ? `${id}-about` : undefined
  const common = { id, name, 'aria-describedby': described, 'aria-invalid': message !== undefined }
  return (
    <div class={`field ${type}`}>
      <label for={id}>
        {label}
        {rest.required && <span aria-hidden="true"> *</span>}
      </label>
      {options ? (
        <select {...common} required={rest.required} defaultValue={value}>
          {!rest.required && <option value="" />}
          <Options options={options} selected={value} />
        </select>
      ) : type === 'textarea' || type === 'secret' ? (
        <textarea
          {...common}
          required={rest.required}
          maxLength={rest.maxLength}
          rows={4}
          defaultValue={value}
          autocomplete="off"
          spellcheck={type === 'textarea'}
        />
      ) : type === 'checkbox' ? (
        <input {...common} type="checkbox" defaultChecked={value === 'on'} />
      ) : (
        <input
          {...common}
          {...rest}
          type={type as 'text'}
          defaultValue={value}
          autocomplete="off"
          list={suggestions && `${id}-list`}
        />
      )}
      {suggestions && (
        <datalist id={`${id}-list`}>
          <Options options={suggestions} />
        </datalist>
      )}
      {described && (
        <p id={described} class={message ? 'wrong' : 'quiet'}>
          {message ?? help}
        </p>
      )}
    </div>
  )
}

export const Options = ({
  options,
  selected,
}: {
  options: readonly Option[]
  selected?: string | undefined
}) =>
  options.map(option => {
    const { value, text } =
      typeof option === 'string' ? { value: option, text: option.replaceAll('_', ' ') } : option
    return (
      <option key={value} value={value} selected={value === selected}>
        {text}
      </option>
    )
  })
