// One call of a step's execute or compensate, with its end: it returns, it raises, or it is abandoned because it neither
// ended in time nor heeded its signal. Knows neither the run nor the database.

export type Called<T> =
  | { how: 'returned'; value: T; aborted: boolean }
  | { how: 'raised'; error: unknown; aborted: boolean }
  | { how: 'abandoned'; reason: string }

export interface Bounds {
  timeoutMs: number
  /** Ends the call from outside: the run is lost, or the process ends. */
  outer: AbortSignal
}

/** How long a call may take to wind down after its signal; a quick step is not given longer than it had for its work. */
const WIND_DOWN_MS = 5_000
/** There is no time left when the signal comes from outside. */
const OUTER_WIND_DOWN_MS = 250

export async function callStep<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, outer }: Bounds,
): Promise<Called<T>> {
  const own = new AbortController()
  const abandoned = Promise.withResolvers<Called<T>>()
  let windDown: NodeJS.Timeout | undefined
  const end = (reason: string, patienceMs: number) => {
    if (own.signal.aborted) return
    own.abort(new Error(reason))
    windDown = setTimeout(() => abandoned.resolve({ how: 'abandoned', reason }), patienceMs)
  }
  const timer = setTimeout(
    () => end(`it took longer than ${timeoutMs / 1000} s`, Math.min(WIND_DOWN_MS, timeoutMs)),
    timeoutMs,
  )
  const endFromOutside = () =>
    end(outer.reason instanceof Error ? outer.reason.message : 'it was stopped', OUTER_WIND_DOWN_MS)
  outer.addEventListener('abort', endFromOutside, { once: true })
  if (outer.aborted) endFromOutside()
  try {
    return await Promise.race([settled(work, own.signal), abandoned.promise])
  } finally {
    clearTimeout(timer)
    clearTimeout(windDown)
    outer.removeEventListener('abort', endFromOutside)
  }
}

async function settled<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<Called<T>> {
  try {
    const value = await work(signal)
    return { how: 'returned', value, aborted: signal.aborted }
  } catch (error) {
    return { how: 'raised', error, aborted: signal.aborted }
  }
}
