// Reading from the API: one answer, or a list page by page. Asked again when what it depends on changes, after a sign-in,
// and, where a page wants it, every few seconds while the tab is seen. Leaving the page aborts it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './api.ts'
import { session, sessionEnded, signIns } from './session.tsx'

export interface Query<T> {
  data: T | undefined
  /** Why the last attempt failed; `data` is then the one before. */
  problem: Problem | undefined
  /** True until the first answer to the present question. */
  loading: boolean
  /** Asks again, and is done when the answer is there. */
  reload: () => Promise<void>
}

interface Options {
  /** Milliseconds between two questions; none: asked once. */
  every?: number
  /** False: not asked, for what the caller may not read or does not need yet. */
  when?: boolean
  /** Asked again when this changes, and what is shown stays meanwhile: nothing moves under a hand that is about to click. */
  again?: unknown
}

type Ask<T> = (signal: AbortSignal) => Promise<T>

export function useQuery<T>(
  ask: Ask<T>,
  deps: unknown[],
  { every, when = true, again }: Options = {},
): Query<T> {
  const key = JSON.stringify([deps, when])
  const [state, setState] = useState<{ key: string; data?: T | undefined; problem?: Problem | undefined }>({
    key: '',
  })
  const latest = useRef(ask)
  latest.current = ask
  const current = useRef<AbortController>(null)

  const run = useCallback(async () => {
    if (!when) return
    current.current?.abort()
    const controller = new AbortController()
    current.current = controller
    try {
      const data = await latest.current(controller.signal)
      if (!controller.signal.aborted) setState({ key, data })
    } catch (error) {
      if (controller.signal.aborted) return
      // What is shown stays: an error of one poll is no reason to empty the page.
      setState(before => ({ key, data: before.data, problem: asProblem(error) }))
    }
  }, [key])

  useEffect(() => {
    run()
    const stopPolling = every ? poll(run, every) : undefined
    return () => {
      stopPolling?.()
      current.current?.abort()
    }
    // After a sign-in it is asked again, and what is shown stays: a form in it must not be lost.
  }, [run, every, signIns.value, JSON.stringify(again)])

  const known = state.key === key
  return {
    data: known ? state.data : undefined,
    problem: known ? state.problem : undefined,
    loading: when && !known,
    reload: run,
  }
}

/** What is left of the interval goes on when the tab is seen again: at once, if it has passed meanwhile. */
function poll(run: () => Promise<void>, every: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Date.now()
  const wait = () => {
    clearTimeout(timer)
    if (document.hidden) return
    timer = setTimeout(
      async () => {
        last = Date.now()
        if (session.value && !sessionEnded.value) await run()
        wait()
      },
      Math.max(0, last + every - Date.now()),
    )
  }
  wait()
  document.addEventListener('visibilitychange', wait)
  return () => {
    last = Number.POSITIVE_INFINITY
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', wait)
  }
}

export interface List<Row> extends Omit<Query<Row[]>, 'data'> {
  rows: Row[]
  /** Reads the next page; undefined when there is none. */
  more: (() => Promise<void>) | undefined
  loadingMore: boolean
}

type Page<Row> = { data: Row[]; next_cursor?: string | null }

/** A keyset list. Polling and `reload` read the pages that are shown again. */
export function useList<Row>(
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Row>>,
  deps: unknown[],
  options: Options = {},
): List<Row> {
  const key = JSON.stringify(deps)
  const [shown, setShown] = useState({ key, pages: 1 })
  const pages = shown.key === key ? shown.pages : 1
  const [loadingMore, setLoadingMore] = useState(false)
  const wanted = useRef(pages)
  wanted.current = pages
  const [added, setAdded] = useState<{
    of: unknown
    rows: Row[]
    next: string | undefined
    problem?: Problem
  }>()

  const { data, problem, loading, reload } = useQuery(
    async signal => {
      const rows: Row[] = []
      let next: string | undefined
      for (let page = 0; page < wanted.current; page++) {
        const answer = await ask(next, signal)
        rows.push(...answer.data)
        next = answer.next_cursor ?? undefined
        if (!next) break
      }
      return { rows, next }
    },
    deps,
    options,
  )

  const extra = added && data && added.of === data ? added : undefined
  const next = extra ? extra.next : data?.next
  const more = async () => {
    if (!next || loadingMore) return
    setLoadingMore(true)
    try {
      const answer = await ask(next, new AbortController().signal)
      setAdded({
        of: data,
        rows: [...(extra?.rows ?? []), ...answer.data],
        next: answer.next_cursor ?? undefined,
      })
      setShown({ key, pages: pages + 1 })
    } catch (error) {
      setAdded({ of: data, rows: extra?.rows ?? [], next, problem: asProblem(error) })
    } finally {
      setLoadingMore(false)
    }
  }
  return {
    rows: data ? (extra ? [...data.rows, ...extra.rows] : data.rows) : [],
    more: next ? more : undefined,
    loadingMore,
    loading,
    problem: problem ?? extra?.problem,
    reload,
  }
}

/** An act: `const pause = useAct(() => ok(api.POST(…)), { done: 'Paused' })`, then `pause.run()`. */
export interface Act<Args extends unknown[]> {
  run: (...args: Args) => Promise<boolean>
  busy: boolean
  problem: Problem | undefined
  clear: () => void
}

export function useAct<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>): Act<Args> {
  const [state, setState] = useState<{ busy: boolean; problem?: Problem }>({ busy: false })
  return {
    ...state,
    problem: state.problem,
    clear: () => setState({ busy: false }),
    run: async (...args) => {
      if (state.busy) return false
      setState({ busy: true })
      try {
        await act(...args)
        setState({ busy: false })
        return true
      } catch (error) {
        setState({ busy: false, problem: asProblem(error) })
        return false
      }
    },
  }
}

const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem({ title: 'The console failed', detail: String(error) })
