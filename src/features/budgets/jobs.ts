// Budgets are looked at every hour, after the hour is metered, and one at once when it was made or changed.
import type { Deps } from '../../deps.ts'
import { handle, type JobHandler, type Task } from '../../kernel/queue/queues.ts'
import { lookJob } from './actions.ts'
import { findUnusualDays } from './find-unusual-days.ts'
import { lookAtBudgets } from './look.ts'

export const budgetHandlers = (deps: Deps): JobHandler[] => [
  handle(lookJob, async ({ budget_id }, run) => {
    await lookAtBudgets(deps, run, { id: budget_id })
  }),
]

export const budgetLook = (deps: Deps): Task => ({
  name: 'budgets',
  description: 'Looks what budgets have come to, and tells the thresholds that are reached.',
  queue: 'metering',
  ownQueue: true,
  cron: '50 * * * *',
  async run(run) {
    await lookAtBudgets(deps, run)
  },
})

/** By then yesterday is metered, and an outage of the night made up for. */
export const unusualDays = (deps: Deps): Task => ({
  name: 'unusual_days',
  description: 'Looks for days that cost more than their weekday usually does.',
  queue: 'metering',
  ownQueue: true,
  cron: '25 4 * * *',
  async run(run) {
    await findUnusualDays(deps, run)
  },
})
