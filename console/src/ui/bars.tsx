import type { ComponentChildren } from 'preact'
import type { Tone } from './text.tsx'

interface Bar {
  name: ComponentChildren
  key: string
  value: number
  /** What the bar is a part of; none: of the longest. */
  of?: number | null
  /** A line across the bar, such as at what is included. */
  mark?: number | null
  /** The value in words, such as "12 of 40 GB". */
  text: string
  tone?: Tone
}

/** Parts of a whole, or values beside each other. The text says it all; the bar helps to see it. */
export function Bars({ bars, label }: { bars: Bar[]; label: string }) {
  const longest = Math.max(...bars.map(({ value }) => value), 0)
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ key, name, value, of, mark, text, tone = 'good' }) => {
        const part = (amount: number) => `${(Math.min(1, amount / (of || longest || 1)) * 100).toFixed(1)}%`
        return (
          <li key={key}>
            <span>{name}</span>
            <span class="number">{text}</span>
            <span class="bar" aria-hidden="true">
              <span class={tone} style={{ width: part(value) }} />
              {mark ? <span class="mark" style={{ insetInlineStart: part(mark) }} /> : null}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
