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
