// The task that runs the checks, every hour and after every whole sweep, and the forgetting of findings that are long over.
import type { Deps } from '../../deps.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import type { Task } from '../../kernel/queue/queues.ts'
import { type CleanUp, noteResult, requestRun } from '../scheduled-tasks/index.ts'
import { findAll } from './find.ts'
import { deleteClosedBefore } from './store.ts'

const NAME = 'findings'

/** By then most sweeps are over; whoever finishes one later asks for it by itself. */
export const findingsTask = (deps: Deps): Task => ({
  name: NAME,
  description:
    'Runs the checks over the inventory and the invoices: opens findings, and closes what is mended.',
  queue: 'metering',
  ownQueue: true,
  cron: '25 * * * *',
  async run(run) {
    const found = await findAll(deps, run)
    await transaction(deps.db, tx => noteResult(tx, run.id, async () => found))
  },
})

/** What a sweep has just seen need not wait for the next tick. */
export const findingsAfterSweep = (deps: Deps): Promise<void> => requestRun(deps, NAME)

const KEEP_DAYS = 90

export const forgetClosedFindings = ({ db, clock }: Deps): CleanUp => ({
  what: `findings closed for more than ${KEEP_DAYS} days`,
  run: () => deleteClosedBefore(db, new Date(clock.now().getTime() - KEEP_DAYS * 86_400_000).toISOString()),
})
