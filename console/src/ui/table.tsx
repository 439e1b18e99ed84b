// The one table: dense, scrolling in its own box, windowed when it is long, read page by page.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { List } from '../query.ts'
import { ProblemBanner } from './problem.tsx'
import { Scroll } from './scroll.tsx'
import { Empty, Loading } from './state.tsx'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  /** Numbers stand at the end. */
  number?: boolean
  /** Sentences and lists that are read as a whole take several lines; for tables that are never long. */
  wraps?: boolean
}

interface TableProps<Row> {
  /** What the rows are: the table's accessible name. */
  label: string
  /** A `useList`; for rows at hand, `{ rows }`. */
  list: Pick<List<Row>, 'rows'> & Partial<List<Row>>
  columns: (Column<Row> | false | undefined)[]
  id: (row: Row) => string
  empty: ComponentChildren
  /** The ids that are ticked, where several rows can be acted on at once. */
  selected?: ReadonlySet<string>
  onSelect?: (selected: Set<string>) => void
  /** The rows that are drawn, when they change: for rows that are fetched as they come into sight. */
  onWindow?: (first: number, last: number) => void
}

const WINDOWED_FROM = 200
const ROW_HEIGHT = 32
const SPARE_ROWS = 10

export function Table<Row>({
  label,
  list,
  columns,
  id,
  empty,
  selected,
  onSelect,
  onWindow,
}: TableProps<Row>) {
  const { rows, more, loading, loadingMore, problem, reload } = list
  const shown = columns.filter(column => column !== false && column !== undefined)
  const windowed = rows.length > WINDOWED_FROM
  const { box, first, last } = useWindow(rows.length, windowed)
  useEffect(() => onWindow?.(first, last), [first, last])
  const span = shown.length + (onSelect ? 1 : 0)
  const toggle = (key: string, on: boolean) => {
    const next = new Set(selected)
    if (on) next.add(key)
    else next.delete(key)
    onSelect?.(next)
  }
  if (loading) return <Loading />
  return (
    <>
      {problem && <ProblemBanner problem={problem} {...(reload && { retry: reload })} />}
      {rows.length === 0 && !problem && <Empty>{more ? 'None so far.' : empty}</Empty>}
      {rows.length > 0 && (
        <Scroll box={box} class={`table-box${windowed ? ' windowed' : ''}`} label={label}>
          <table
            aria-label={label}
            aria-rowcount={windowed ? rows.length + 1 : undefined}
            onPointerOver={nameWhole}
          >
            <thead>
              <tr>
                {onSelect && (
                  <th scope="col">
                    <input
                      type="checkbox"
                      aria-label="Select all rows shown"
                      checked={rows.every(row => selected?.has(id(row)))}
                      onChange={event => onSelect(new Set(event.currentTarget.checked ? rows.map(id) : []))}
                    />
                  </th>
                )}
                {shown.map(({ name, number }) => (
                  <th key={name} scope="col" class={number ? 'number' : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              <Spacer rows={first} span={span} />
              {rows.slice(first, last).map((row, i) => {
                const key = id(row)
                return (
                  <tr key={key} aria-rowindex={windowed ? first + i + 2 : undefined}>
                    {onSelect && (
                      <td>
                        <input
                          type="checkbox"
                          aria-label={`Select row ${first + i + 1}`}
                          checked={selected?.has(key) ?? false}
                          onChange={event => toggle(key, event.currentTarget.checked)}
                        />
                      </td>
                    )}
                    {shown.map(({ name, cell, number, wraps }) => (
                      <td key={name} class={number ? 'number' : wraps ? 'wraps' : undefined}>
                        {cell(row)}
                      </td>
                    ))}
                  </tr>
                )
              })}
              <Spacer rows={rows.length - last} span={span} />
            </tbody>
          </table>
        </Scroll>
      )}
      {more && (
        <p class="more">
          <button type="button" disabled={loadingMore} onClick={more}>
            More
          </button>
          <span class="quiet" role="status">
            {rows.length} shown
          </span>
        </p>
      )}
    </>
  )
}

/** What a cell had to cut off is told when it is pointed at. */
function nameWhole({ target }: Event) {
  const cell = target instanceof Element && target.closest('td')
  if (cell && cell.scrollWidth > cell.clientWidth) cell.title = cell.textContent
}

/** Keeps the height of the rows that are not drawn. */
const Spacer = ({ rows, span }: { rows: number; span: number }) =>
  rows > 0 ? (
    <tr class="spacer">
      <td colSpan={span} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  ) : null

/** Which rows are in sight of a box that scrolls. */
function useWindow(count: number, windowed: boolean) {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(800)
  useEffect(() => {
    const element = box.current
    if (!element || !windowed) return
    const look = () => {
      setTop(Math.floor(element.scrollTop / ROW_HEIGHT / 10) * 10)
      setHeight(element.clientHeight)
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [windowed])
  if (!windowed) return { box, first: 0, last: count }
  const first = Math.max(0, Math.min(top, count) - SPARE_ROWS)
  return { box, first, last: Math.min(count, top + Math.ceil(height / ROW_HEIGHT) + SPARE_ROWS) }
}
