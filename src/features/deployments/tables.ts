// Rows of deployments and of their moves.
import type { DeploymentState } from './lifecycle.ts'

export interface CloudDeploymentRow {
  id: string
  tenant_id: string
  slug: string
  display_name: string
  region: string
  state: DeploymentState
  llm_mode: string
  billing_action_suspended: boolean
  /** Who set it, when and why; null when it is not set. */
  billing_action_suspended_by: string | null
  billing_action_suspended_at: string | null
  billing_action_suspended_reason: string | null
  template_code: string | null
  template_version: string | null
  created_at: string
  updated_at: string
}

export interface CloudDeploymentEventRow {
  id: string
  deployment_id: string
  from_state: DeploymentState
  to_state: DeploymentState
  actor: string
  actor_role: string | null
  reason: string | null
  created_at: string
}

declare module '../../kernel/db/tables.ts' {
  interface Tables {
    cloud_deployments: CloudDeploymentRow
    cloud_deployment_events: CloudDeploymentEventRow
  }
}
