// Meters every hour that is over and not metered yet, oldest first and a day at a time, each day in a transaction of its
// own: a service that was down makes up for it, and one that dies half-way loses nothing. Then closes the months that are due,
// and adjusts those of which something came in late.

import type { Logger } from 'pino'
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { firstMadeAt } from '../deployments/index.ts'
import { adjustMonths } from './adjust-months.ts'
import { closeMonths } from './close-months.ts'
import { dueHours, endOfHour } from './period.ts'
import { claimHours, insertUsage, lastHour } from './store.ts'

/** At minute 40 the sweep of minute 15 has long been written. */
export const metering = (deps: Deps): Task => ({
  name: 'metering',
  description:
    'Meters, hour by hour, how long resources of each kind lived for each deployment; closes months, and adjusts closed ones.',
  queue: 'metering',
  cron: '40 * * * *',
  async run(run) {
    await meterHours(deps, run)
    await closeMonths(deps, run)
    await adjustMonths(deps, run)
  },
})

const BATCH = 24

/** A month in one run, so that the other tasks of the queue get their turn; the next run goes on. */
const MOST_BATCHES = 31

export interface MeteringRun {
  signal: AbortSignal
  log: Logger
}

/** How many hours this run has metered. */
export async function meterHours(
  { db, clock }: Deps,
  { signal, log }: MeteringRun,
  mostBatches = MOST_BATCHES,
): Promise<number> {
  const firstDeployment = await firstMadeAt(db)
  let metered = 0
  let rows = 0
  for (let batch = 0; batch < mostBatches && !signal.aborted; batch++) {
    const now = clock.now()
    const hours = dueHours({ last: await lastHour(db), firstDeployment }, now, BATCH)
    if (hours.length === 0) break
    const written = await meterBatch(db, hours, now)
    metered += written.hours
    rows += written.rows
  }
  log.info({ hours: metered, rows, last_hour: await lastHour(db) }, 'usage metered')
  return metered
}

/** What another node has metered meanwhile is left to it. */
const meterBatch = (db: Deps['db'], hours: string[], now: Date): Promise<{ hours: number; rows: number }> =>
  transaction(db, async tx => {
    const mine = await claimHours(tx, hours, now.toISOString())
    if (mine.length === 0) return { hours: 0, rows: 0 }
    return { hours: mine.length, rows: await insertUsage(tx, mine, endOfHour(mine.at(-1)!)) }
  })
