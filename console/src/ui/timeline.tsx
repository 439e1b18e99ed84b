import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../query.ts'
import { ProblemBanner } from './problem.tsx'
import { Empty, Loading } from './state.tsx'
import { Time, type Tone } from './text.tsx'

export interface TimelineItem {
  key: string
  at: string | null
  title: ComponentChildren
  tone?: Tone
  body?: ComponentChildren
}

const AT_ONCE = 100

/** What happened, one under the other, as it is handed in. Drawn as far as it has been scrolled: 20,000 stay smooth. */
export function Timeline({ items, label }: { items: TimelineItem[]; label: string }) {
  const [drawn, setDrawn] = useState(AT_ONCE)
  const end = useRef<HTMLLIElement>(null)
  const left = items.length > drawn
  useEffect(() => {
    if (!left || !end.current) return
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setDrawn(before => before + AT_ONCE)
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [left, drawn])
  return (
    <ol class="timeline" aria-label={label}>
      {items.slice(0, drawn).map(({ key, at, title, tone = 'quiet', body }) => (
        <li key={key} class={tone}>
          <p>
            <span>{title}</span> <Time at={at} seconds />
          </p>
          {body}
        </li>
      ))}
      {left && (
        <li ref={end} class="quiet">
          {items.length - drawn} more
        </li>
      )}
    </ol>
  )
}

interface PagedProps<Row> {
  label: string
  list: List<Row>
  item: (row: Row) => TimelineItem
  empty: ComponentChildren
  /** The word on the button for the next page. */
  more: string
}

/** A `useList` as a timeline, page by page. */
export const PagedTimeline = <Row,>({ label, list, item, empty, more }: PagedProps<Row>) => (
  <>
    {list.problem && <ProblemBanner problem={list.problem} retry={list.reload} />}
    {list.loading && <Loading />}
    {list.rows.length > 0 && <Timeline label={label} items={list.rows.map(item)} />}
    {list.rows.length === 0 && !list.loading && !list.problem && <Empty>{empty}</Empty>}
    {list.more && (
      <p class="more">
        <button type="button" disabled={list.loadingMore} onClick={list.more}>
          {more}
        </button>
        <span class="quiet" role="status">
          {list.rows.length} shown
        </span>
      </p>
    )}
  </>
)
