// Which queue runs which handler, and the cron table (UTC).
import type { Context } from './context.ts'
import { auditSeal } from './features/audit-log/index.ts'
import {
  billingHandlers,
  billingHistory,
  costEstimate,
  financePush,
  recordBalance,
  requestMissingPushes,
} from './features/billing/index.ts'
import { budgetHandlers, budgetLook, lookJob, unusualDays } from './features/budgets/index.ts'
import { driftDetection, driftOfChanged } from './features/drift/index.ts'
import { findingsAfterSweep, findingsTask, forgetClosedFindings } from './features/findings/index.ts'
import {
  followJob,
  inventoryHandlers,
  resourceSync,
  sizeSync,
  watchActions,
} from './features/inventory/index.ts'
import { metering } from './features/metering/index.ts'
import { leakCleanup } from './features/provisioning/index.ts'
import { sagaHandlers, sagaRescue, watchSagas } from './features/sagas/index.ts'
import {
  housekeeping,
  requestFirstRun,
  taskHandlers,
  taskJob,
  upsertTasks,
  watchSchedule,
} from './features/scheduled-tasks/index.ts'
import { forgetSessions } from './features/session/index.ts'
import { rollOverPeriods } from './features/subscriptions/index.ts'
import { advanceJob, testClockHandlers } from './features/test-clocks/index.ts'
import { forgetWebhookEvents, runDeliveries } from './features/webhooks/index.ts'
import { deleteIdempotencyKeys } from './kernel/http/idempotency.ts'
import type { Task } from './kernel/queue/queues.ts'

/** Every scheduled task of the service. */
const tasksOf = (ctx: Context): Task[] => [
  recordBalance(ctx), //  hourly at :07  cloud_billing
  costEstimate(ctx), //  hourly at :12  cloud_billing
  resourceSync(ctx), //  hourly at :15  cloud_sync_full
  sizeSync(ctx), //  hourly at :10  cloud_sync_slow
  driftDetection(ctx), //  hourly at :20  metering
  findingsTask(ctx), //  hourly at :25  metering, and after every sweep
  financePush(ctx), //  hourly at :37  cloud_billing
  metering(ctx), //  hourly at :40  metering
  budgetLook(ctx), //  hourly at :50  metering
  billingHistory(ctx), //  daily at 02:23 cloud_billing
  unusualDays(ctx), //  daily at 04:25 metering
  sagaRescue(ctx), //  every minute   cloud_sync_fast
  leakCleanup(ctx), //  every 2 minutes cloud_sync_fast
  auditSeal(ctx), //  every minute   metering
  rollOverPeriods(ctx), //  monthly        metering
  //  daily at 03:41 metering
  housekeeping(ctx, [
    deleteIdempotencyKeys(ctx),
    forgetWebhookEvents(ctx),
    forgetSessions(ctx),
    forgetClosedFindings(ctx),
  ]),
]

const hasTestClocks = ({ config }: Context): boolean => config.NODE_ENV !== 'production'

/** Makes the queues of those jobs that have one of their own. */
export const declareJobs = (ctx: Context): Promise<void> =>
  ctx.jobs.declare([
    ...tasksOf(ctx).map(taskJob),
    lookJob,
    followJob,
    ...(hasTestClocks(ctx) ? [advanceJob] : []),
  ])

/** Makes the tasks known to the API; every process does so at its start. */
export async function registerTasks(ctx: Context): Promise<void> {
  await declareJobs(ctx)
  await upsertTasks(ctx.db, tasksOf(ctx))
}

/** Starts running jobs in this process. */
export async function startWorker(ctx: Context): Promise<void> {
  const tasks = tasksOf(ctx)
  const handlers = [
    ...taskHandlers(ctx, tasks),
    ...inventoryHandlers(ctx, {
      changed: ids => driftOfChanged(ctx, ids),
      swept: () => findingsAfterSweep(ctx),
    }),
    ...sagaHandlers(ctx, ctx.sagaKinds),
    ...billingHandlers(ctx),
    ...(hasTestClocks(ctx) ? testClockHandlers(ctx) : []),
    ...budgetHandlers(ctx),
  ]
  await ctx.jobs.work(handlers)
  watchSagas(ctx)
  runDeliveries(ctx)
  // Finance may have been configured since the last start.
  await requestMissingPushes(ctx)
}

/** Has the tasks run on their schedule; what was missed is made up for. */
export function startSchedule(ctx: Context): void {
  watchSchedule(ctx, tasksOf(ctx))
  watchActions(ctx)
}

/** A fresh installation mirrors the provider at once instead of at the next quarter past. */
export async function startFirstSweep(ctx: Context): Promise<void> {
  if (!ctx.providers.for('cloud_sync_full').absent) await requestFirstRun(ctx, 'resource_sync')
  if (!ctx.providers.for('cloud_sync_slow').absent) await requestFirstRun(ctx, 'size_sync')
}
