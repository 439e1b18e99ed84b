import { useId } from 'preact/hooks'
import { useRefusal, type Values } from './form.tsx'

interface Props<Choice extends string> {
  label: string
  /** The body's member: a list of those that are ticked. */
  name: string
  options: readonly Choice[]
  value?: readonly string[]
  help?: string
}

/** Some of many, in a `Form`; `chosen(values, name)` reads them. */
export function Choices<Choice extends string>({ label, name, options, value = [], help }: Props<Choice>) {
  const id = useId()
  const message = useRefusal(name)
  return (
    <fieldset class="choices" aria-describedby={help || message ? id : undefined}>
      <legend>{label}</legend>
      {(help || message) && (
        <p id={id} class={message ? 'wrong' : 'quiet'}>
          {message ?? help}
        </p>
      )}
      <div>
        {options.map(option => (
          <label key={option}>
            <input type="checkbox" name={`${name}=${option}`} defaultChecked={value.includes(option)} />{' '}
            {option}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

export const chosen = <Choice extends string>(values: Values, name: string): Choice[] =>
  Object.keys(values)
    .filter(key => key.startsWith(`${name}=`))
    .map(key => key.slice(name.length + 1) as Choice)
