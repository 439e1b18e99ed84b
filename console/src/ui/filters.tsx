// Filters of a list, kept in the address: a link to the page is a link to what it shows.
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { filter, setFilters } from '../router.tsx'
import { type Option, Options } from './form.tsx'
import { MomentInput } from './moment-input.tsx'

export interface FilterField {
  /** The query parameter, of the page and of the API. */
  name: string
  label: string
  /** A choice; none: free text. */
  options?: readonly Option[]
  /** The word for none of the options; "any" unless said otherwise. */
  any?: string
  /** A box to tick: `true` or absent. */
  flag?: boolean
  /** `moment`: a time, local here and UTC in the address. */
  type?: 'text' | 'month' | 'date' | 'moment'
  /** `/` puts the cursor here. */
  search?: boolean
}

export function Filters({ fields }: { fields: FilterField[] }) {
  const set = fields.some(({ name }) => filter(name))
  const clear = () => setFilters(Object.fromEntries(fields.map(({ name }) => [name, undefined])))
  return (
    <search>
      <form class="filters" onSubmit={event => event.preventDefault()}>
        {fields.map(field => (
          <FilterControl key={field.name} {...field} />
        ))}
        {set && (
          <button type="button" class="plain" onClick={clear}>
            Clear filters
          </button>
        )}
      </form>
    </search>
  )
}

function FilterControl({ name, label, options, any = 'any', flag, search, type = 'text' }: FilterField) {
  const id = useId()
  const value = filter(name)
  // Set when the address changes, and only then: a page that is drawn again leaves alone what is being typed.
  const text = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (text.current) text.current.value = (type === 'month' ? value?.slice(0, 7) : value) ?? ''
  }, [value])
  const change = (next: string) => setFilters({ [name]: next.trim() })
  if (flag) {
    return (
      <label class="flag">
        <input
          type="checkbox"
          checked={value === 'true'}
          onChange={event => change(event.currentTarget.checked ? 'true' : '')}
        />
        {label}
      </label>
    )
  }
  return (
    <div>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} value={value ?? ''} onChange={event => change(event.currentTarget.value)}>
          <option value="">{any}</option>
          <Options options={options} selected={value} />
        </select>
      ) : type === 'moment' ? (
        <MomentInput id={id} value={value} onMoment={change} />
      ) : (
        <input
          id={id}
          type={type as 'text'}
          ref={text}
          data-search={search || undefined}
          onChange={event => change(event.currentTarget.value)}
        />
      )}
    </div>
  )
}
