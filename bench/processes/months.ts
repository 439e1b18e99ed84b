// What a month's end asks of the service, by its own configuration, pool and log, as the tasks call it: closing the month, and a
// look at every budget. The clock stands just after October may be closed.
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { lookAtBudgets } from '../../src/features/budgets/look.ts'
import { closeMonths } from '../../src/features/metering/close-months.ts'
import { workingLong } from '../process.ts'

export interface Task {
  task: 'close' | 'look'
}

export interface Done {
  ms: number
  /** How many statements were written, or thresholds told. */
  count: number
}

const { config } = readConfig({ ...process.env })
const clock = { now: () => new Date('2026-11-04T00:05:00Z') }
const context = await createContext({ config, worker: false, clock })
const run = { signal: new AbortController().signal, log: pino({ level: 'silent' }) }

workingLong<Task, Done>(async ({ task }) => {
  const began = performance.now()
  const count = await (task === 'close' ? closeMonths(context, run) : lookAtBudgets(context, run))
  return { count, ms: performance.now() - began }
})
