// A moment that is typed or picked, where the reader is; in the address and for the API it is UTC.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { instantOf } from './form.tsx'

const MINUTE_MS = 60_000
/** Whoever types a year passes through those of the Romans. */
const FIRST_YEAR = '2000'

/** What a `datetime-local` field shows of a time; empty for what is none. */
export function localOf(moment: string | undefined): string {
  const date = new Date(moment ?? '')
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 19)
}

interface Props {
  id: string
  value: string | undefined
  onMoment: (moment: string) => void
}

/** Emptied it changes nothing: a part of a time that is being typed anew is no time. */
export function MomentInput({ id, value, onMoment }: Props) {
  const field = useRef<HTMLInputElement>(null)
  // Set when the address changes, and only then: a page that is drawn again leaves alone what is being typed.
  useLayoutEffect(() => {
    const [shown, wanted] = [field.current!.value, localOf(value)]
    if (Date.parse(shown) !== Date.parse(wanted)) field.current!.value = wanted
  }, [value])
  const change = (local: string) => {
    const moment = instantOf(local)
    if (moment && moment >= FIRST_YEAR) onMoment(moment)
  }
  return (
    <input
      id={id}
      type="datetime-local"
      step={1}
      ref={field}
      onChange={event => change(event.currentTarget.value)}
    />
  )
}
