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

/** Stops the clock of a call while it waits for something that is not its own; it then has its whole time again. */
export interface Timeout {
  suspend(): void
  resume(): void
}

export async function callStep<T>(
  work: (signal: AbortSignal, timeout: Timeout) => Promise<T>,
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
  const tooLong = () => end(`it took longer than ${timeoutMs / 1000} s`, Math.min(WIND_DOWN_MS, timeoutMs))
  let timer: NodeJS.Timeout | undefined = setTimeout(tooLong, timeoutMs)
  const timeout: Timeout = {
    suspend() {
      clearTimeout(timer)
      timer = undefined
    },
    resume() {
      if (!ended) timer ??= setTimeout(tooLong, timeoutMs)
    },
  }
  let ended = false
  const endFromOutside = () =>
    end(outer.reason instanceof Error ? outer.reason.message : 'it was stopped', OUTER_WIND_DOWN_MS)
  outer.addEventListener('abort', endFromOutside, { once: true })
  if (outer.aborted) endFromOutside()
  try {
    return await Promise.race([settled(() => work(own.signal, timeout), own.signal), abandoned.promise])
  } finally {
    ended = true
    clearTimeout(timer)
    clearTimeout(windDown)
    outer.removeEventListener('abort', endFromOutside)
  }
}

async function settled<T>(work: () => Promise<T>, signal: AbortSignal): Promise<Called<T>> {
  try {
    const value = await work()
    return { how: 'returned', value, aborted: signal.aborted }
  } catch (error) {
    return { how: 'raised', error, aborted: signal.aborted }
  }
}
