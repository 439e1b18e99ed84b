// Moving in: a platform_admin says since when a deployment or a subscription has been there, but not within a month whose
// statements are written.
import type { Executor } from '../../kernel/db/tables.ts'
import { conflict, forbidden } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/http/caller.ts'
import type { Books } from '../subscriptions/index.ts'

export interface PastTime {
  tenantId: string
  field: string
  at: string
}

export async function allowPast(
  tx: Executor,
  { openFrom }: Pick<Books, 'openFrom'>,
  caller: Caller,
  { tenantId, field, at }: PastTime,
): Promise<void> {
  if (!caller.platformAdmin) throw forbidden(`${field} in the past is for a platform_admin.`)
  const open = await openFrom(tx, tenantId)
  if (open !== null && at < open)
    throw conflict(
      'month_closed',
      `The statements of ${at.slice(0, 7)} are written. From ${open} on it may begin.`,
    )
}
