// One act on several things: a call for each, one after the other, with what became of every one of them.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../api.ts'
import { Dialog } from './dialog.tsx'
import { Scroll } from './scroll.tsx'

interface SeveralProps<Item> {
  title: string
  items: Item[]
  name: (item: Item) => string
  act: (item: Item) => Promise<unknown>
  /** The word at those that went well: "accepted". */
  done: string
  /** After the last call, or when it was stopped before. */
  onClose: () => void
}

/** Begins when it is rendered; closing it stops before the next call. */
export function Several<Item>({ title, items, name, act, done, onClose }: SeveralProps<Item>) {
  const [results, setResults] = useState<(Problem | 'done')[]>([])
  const stopped = useRef(false)
  // What is shown in the list behind changes meanwhile; the acts are those that were asked for.
  const asked = useRef(items).current
  useEffect(() => {
    const run = async () => {
      for (const item of asked) {
        if (stopped.current) return
        const result = await act(item).then(
          () => 'done' as const,
          error => (error instanceof Problem ? error : new Problem({ title: String(error) })),
        )
        setResults(before => [...before, result])
      }
    }
    run()
    return () => {
      stopped.current = true
    }
  }, [])
  const failed = results.filter(result => result !== 'done').length
  const over = results.length === asked.length
  return (
    <Dialog title={title} onClose={onClose}>
      <progress max={asked.length} value={results.length} aria-label={title} />
      <p role="status">
        {results.length} of {asked.length}
        {over && (failed ? `: ${results.length - failed} ${done}, ${failed} refused` : `: all ${done}`)}
      </p>
      <Scroll class="results" label="Results">
        <ol>
          {asked.map((item, i) => (
            <Result key={i} name={name(item)} result={results[i]} done={done} />
          ))}
        </ol>
      </Scroll>
      <footer>
        <button type="button" class={over ? 'primary' : undefined} onClick={onClose}>
          {over ? 'Done' : 'Stop'}
        </button>
      </footer>
    </Dialog>
  )
}

const Result = ({
  name,
  result,
  done,
}: {
  name: string
  result: Problem | 'done' | undefined
  done: string
}) => (
  <li>
    {name}{' '}
    {result === undefined ? (
      <span class="quiet">waits</span>
    ) : result === 'done' ? (
      <span class="good">{done}</span>
    ) : (
      <span class="bad">
        {result.title}: {result.detail} <span class="quiet">Request {result.requestId}</span>
      </span>
    )}
  </li>
)
