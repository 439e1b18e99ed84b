// Rows of metering. Both tables take rows and give none back: what was metered stays.

export interface MeteredHourRow {
  /** When the hour began. */
  hour: string
  metered_at: string
}

export interface UsageHourRow {
  deployment_id: string
  hour: string
  kind: string
  /** How long all resources of the kind lived for the deployment in that hour, together. */
  seconds: number
  resources: number
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    metered_hours: MeteredHourRow
    usage_hours: UsageHourRow
  }
}
