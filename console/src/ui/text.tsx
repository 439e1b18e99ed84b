// Values as people read them. Everything here is text: nothing that a provider named is ever taken for HTML.
import type { ComponentChildren } from 'preact'
import { Scroll } from './scroll.tsx'

/** Stands for null. */
export const Missing = () => (
  <span class="quiet">
    <span aria-hidden="true">–</span>
    <span class="unseen">none</span>
  </span>
)

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const minute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const second = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Local, with UTC on hover. A date without a time (`2026-11-01`) is the same everywhere. */
export function Time({ at, seconds = false }: { at: string | null | undefined; seconds?: boolean }) {
  if (!at) return <Missing />
  const isDate = at.length === 10
  const date = new Date(isDate ? `${at}T00:00:00` : at)
  // An address may say anything.
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  const text = (isDate ? day : seconds ? second : minute).format(date)
  return (
    <time dateTime={at} title={isDate ? at : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`}>
      {text}
    </time>
  )
}

/** The API's exact decimals stay exact: they are never made a number. */
export function money(amount: string | number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount as number)
  } catch {
    return `${amount} ${currency}`
  }
}

export const Money = ({
  amount,
  currency,
}: {
  amount: string | number | null | undefined
  currency: string
}) =>
  amount === null || amount === undefined ? (
    <Missing />
  ) : (
    <span class="number">{money(amount, currency)}</span>
  )

const GOOD =
  /^(active|available|complete|completed|ok|open_ok|running|succeeded|done|delivered|pushed|reconciled|published|live|accepted|valid|paid|healthy)$/
const BAD =
  /^(failed|error|errored|dead|refused|suspended|expired|leaked|ingest_failed|rolled_back|terminated|deleted|revoked|off)$/
const BUSY =
  /^(pending|past_due|new|draft|provisioning|compensating|open|drift_detected|held|partial|paused|starting|migrating|in_progress|retrying)$/

export type Tone = 'good' | 'bad' | 'busy' | 'quiet'

export const toneOf = (status: string): Tone =>
  GOOD.test(status) ? 'good' : BAD.test(status) ? 'bad' : BUSY.test(status) ? 'busy' : 'quiet'

/** A status: its word, and a colour that says no more than the word. */
export const Badge = ({ children, tone }: { children: string | null | undefined; tone?: Tone }) =>
  children ? (
    <span class={`badge ${tone ?? toneOf(children)}`}>{children.replaceAll('_', ' ')}</span>
  ) : (
    <Missing />
  )

/** Names and values, one under the other. */
export const Facts = ({ facts }: { facts: [string, ComponentChildren][] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value === null || value === undefined || value === '' ? <Missing /> : value}</dd>
      </div>
    ))}
  </dl>
)

const written = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** Any value in one line. */
export const Value = ({ value }: { value: unknown }) =>
  value === null || value === undefined ? <Missing /> : <span>{written(value)}</span>

/** How long something took: `47 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Any value of the API, as it is. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <Scroll class="json" label={label}>
    <pre>{JSON.stringify(value, null, 2)}</pre>
  </Scroll>
)

/** Field → before and after. */
export function Diff({
  changes,
  names = ['Before', 'After'],
}: {
  changes: Record<string, { before?: unknown; after?: unknown }>
  names?: [string, string]
}) {
  return (
    <table class="diff">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">{names[0]}</th>
          <th scope="col">{names[1]}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(changes).map(([field, { before, after }]) => (
          <tr key={field}>
            <th scope="row">{field}</th>
            <td>
              <Value value={before} />
            </td>
            <td>
              <Value value={after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
