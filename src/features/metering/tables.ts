// Rows of metering. Both tables take rows and give none back: what was metered stays.
import type { Row } from '../../kernel/db/tables.ts'

export type MeteredHourRow = Row<'metered_hours'>
/** `seconds`: how long all resources of the kind lived for the deployment in that hour, together. */
export type UsageHourRow = Row<'usage_hours'>
