// Rows of provisioning: places of a plan that runs under way have taken.
import type { Row } from '../../kernel/db/tables.ts'

export type ProvisioningReservationRow = Row<'provisioning_reservations'>
