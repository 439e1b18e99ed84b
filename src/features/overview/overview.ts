// What needs somebody's attention, counted: of each area as much as the caller may read.
import { type Static, Type } from 'typebox'
import { Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { SyncRun } from '../inventory/index.ts'

const Count = (description?: string) => Type.Integer({ ...(description && { description }) })

const MirroredKind = noun('MirroredKind', {
  kind: Type.String({ description: 'A kind, or for operators `project`.' }),
  complete_at: Nullable(
    Type.String({ ...Time, description: 'When its last complete sweep began; null: there was none yet.' }),
  ),
  stale: Type.Boolean({ description: 'Whether that is more than two hours ago, or was never.' }),
  resources: Nullable(
    Type.Integer({
      description:
        'Of a tenant: those that it has now. For operators: what that sweep saw; null without one.',
    }),
  ),
  last_run: Nullable(SyncRun),
})

const OpenDrift = noun('OpenDrift', {
  open: Count(),
  by_field: Type.Array(Type.Object({ kind: Type.String(), field: Type.String(), open: Count() }), {
    description: 'The most first.',
  }),
})

const SagaCounts = noun('SagaCounts', {
  pending: Count(),
  running: Count(),
  compensating: Count(),
  failed: Count('Of those that were started since `since`.'),
  rolled_back: Count('Of those that were started since `since`.'),
  since: Time,
})

const InvoiceCounts = noun('InvoiceCounts', {
  not_ingested: Count('Without lines.'),
  ingest_failed: Count('The last attempt to fetch them failed; lines of an earlier one may stand.'),
  not_pushed: Nullable(
    Count('With lines that finance has not been told as they stand; null without a finance service.'),
  ),
  not_reconciled: Count('Whose lines do not add up to their amount.'),
})

const part = 'Null for a caller that may not read it.'

export const Overview = noun('Overview', {
  mirror: Nullable(Type.Array(MirroredKind, { description: `How fresh the inventory is. ${part}` })),
  sagas: Nullable(SagaCounts),
  drift: Nullable(OpenDrift),
  dead_letters: Nullable(Count()),
  scheduled_tasks: Nullable(noun('TaskCounts', { paused: Count(), failed: Count('Whose last run failed.') })),
  invoices: Nullable(InvoiceCounts),
})
export type Overview = Static<typeof Overview>

/** Sweeps begin every hour: one was missed. */
const STALE_AFTER_MS = 2 * 60 * 60_000

export const isStale = (completeAt: string | null, now: Date): boolean =>
  completeAt === null || now.getTime() - Date.parse(completeAt) > STALE_AFTER_MS
