// Rows of provisioning: places of a plan that runs under way have taken.

export interface ProvisioningReservationRow {
  saga_id: string
  deployment_id: string
  resource_kind: string
  created_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    provisioning_reservations: ProvisioningReservationRow
  }
}
