// Rows of deployments and of their moves.

import type { Row } from '../../kernel/db/tables.ts'
import type { DeploymentState } from './lifecycle.ts'

export type CloudDeploymentRow = Row<'cloud_deployments'>
export type CloudDeploymentEventRow = Row<'cloud_deployment_events'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_deployments: { state: DeploymentState }
    cloud_deployment_events: { from_state: DeploymentState; to_state: DeploymentState }
  }
}
