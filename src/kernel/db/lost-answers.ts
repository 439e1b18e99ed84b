// A statement that may run for minutes cannot be told from one whose connection is dead by waiting. So the server is
// asked, on another connection: where it has nothing under way for a statement that still waits here, the answer was
// lost, or the statement never arrived.
import type { Logger } from 'pino'
import { Connection, type ConnectionOptions } from './connection.ts'
import { LostConnection } from './sql-state.ts'

const LOOK_EVERY_MS = 4_000

/** Statements younger than this are left alone. */
const LONG_MS = 4_000

/** Returns the way to stop. Behind a pooler nothing is looked for: the server's process number is not known there. */
export function watchForLostAnswers(
  options: ConnectionOptions,
  connections: () => Iterable<Connection>,
  log: Logger,
): () => void {
  /** What the last look found without a counterpart: the answer may just have been on its way. */
  let suspects = new Map<Connection, number>()
  let looking = false
  const timer = setInterval(async () => {
    const now = performance.now()
    const waiting = [...connections()].flatMap(connection => {
      const { busySince, backend, pooled } = connection
      return busySince !== undefined && now - busySince > LONG_MS && backend !== null && !pooled
        ? [{ connection, busySince, backend }]
        : []
    })
    if (waiting.length === 0) suspects.clear()
    if (waiting.length === 0 || looking) return
    looking = true
    try {
      const working = await workingBackends(
        options,
        waiting.map(({ backend }) => backend),
      )
      const idle = waiting.filter(
        ({ connection, busySince, backend }) => !working.has(backend) && connection.busySince === busySince,
      )
      for (const { connection, busySince } of idle) {
        if (suspects.get(connection) === busySince)
          connection.destroy(new LostConnection('the answer of the database was lost on its way'))
      }
      suspects = new Map(idle.map(({ connection, busySince }) => [connection, busySince]))
    } catch (error) {
      // The next look comes soon, and the statements have their limits.
      log.debug({ err: error }, 'the database could not be asked which statements it works on')
    } finally {
      looking = false
    }
  }, LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function workingBackends(options: ConnectionOptions, backends: number[]): Promise<Set<number>> {
  const connection = new Connection({ ...options, limit: () => LOOK_EVERY_MS })
  connection.on('error', () => {})
  await connection.connect()
  try {
    const { rows } = await connection.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid = any($1) and state not like 'idle%'",
      [backends],
    )
    return new Set(rows.map(row => row.pid))
  } finally {
    connection.end().catch(() => {})
  }
}
