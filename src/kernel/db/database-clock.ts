// The database's time, told without asking it each time: what two nodes date must be comparable, and their machines' clocks
// are not. The time that has passed in this process, which nobody sets, plus what the database's clock showed at a known
// moment of it. The machine's clock is never used; it is only compared, to warn.
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { type Clock, type Machine, thisMachine, within } from '../time.ts'
import type { Executor } from './tables.ts'

/** What one question showed: the database's time minus the elapsed one, give or take half the round trip. */
export interface Reading {
  offset: number
  give: number
}

/**
 * The better of two: the more exact one, unless they contradict each other. Then the database's clock was set, or it is
 * another database (a failover), and only the later one counts. Pure.
 */
export function betterReading(known: Reading | undefined, asked: Reading): Reading {
  if (!known || asked.give <= known.give) return asked
  return Math.abs(asked.offset - known.offset) > asked.give + known.give ? asked : known
}

/** Clocks that nobody sets drift: what is known grows less exact, by a millisecond in ten seconds. */
export const aged = ({ offset, give }: Reading, ms: number): Reading => ({ offset, give: give + ms / 10_000 })

const ASK_EVERY_MS = 10_000
const FIRST_READINGS = 3
/** More than this is no drift any more: the machine's time is not kept. */
export const WARN_AT_MS = 3_000

export interface DatabaseClock extends Clock {
  close(): void
}

export async function startDatabaseClock(
  db: Executor,
  log: Pick<Logger, 'warn' | 'info'>,
  machine: Machine = thisMachine,
): Promise<DatabaseClock> {
  let known: Reading | undefined
  let [readAt, warned] = [0, false]

  async function ask(): Promise<void> {
    const asked = machine.elapsed()
    const { rows } = await sql<{ time: number }>`
      select extract(epoch from clock_timestamp())::float8 * 1000 as time`.execute(db)
    const answered = machine.elapsed()
    const { time } = rows[0]!
    const reading = { offset: time - (asked + answered) / 2, give: (answered - asked) / 2 }
    known = betterReading(known && aged(known, answered - readAt), reading)
    readAt = answered
  }

  function compare(): void {
    const ahead = Math.round(machine.wall() - now())
    const differs = Math.abs(ahead) > WARN_AT_MS
    if (differs && !warned)
      log.warn({ ahead_ms: ahead }, 'this machine’s clock differs from the database’s, whose time is used')
    if (!differs && warned) log.info('this machine’s clock agrees with the database’s again')
    warned = differs
  }

  const now = () => machine.elapsed() + known!.offset
  for (let reading = 0; reading < FIRST_READINGS; reading++) await ask()
  compare()
  let asking = false
  const timer = setInterval(async () => {
    // A database that is away leaves the last reading as it is.
    if (asking) return
    asking = true
    await within(ASK_EVERY_MS, 'the database did not tell the time', ask())
      .then(compare)
      .catch(() => {})
    asking = false
  }, ASK_EVERY_MS)
  timer.unref()

  return { now: () => new Date(now()), close: () => clearInterval(timer) }
}
