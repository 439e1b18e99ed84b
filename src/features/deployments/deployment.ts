// What a deployment and its events look like: in the API, in webhooks and in the tables.

import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { SUBSCRIPTION_STATUSES, Subscription } from '../subscriptions/index.ts'
import { type DeploymentState, STATES } from './lifecycle.ts'

export const State = Type.Enum([...STATES])

export const Deployment = noun('Deployment', {
  id: Id,
  tenant_id: Type.String(),
  slug: Type.String(),
  display_name: Type.String(),
  region: Type.String(),
  state: State,
  llm_mode: Type.String(),
  billing_action_suspended: Type.Boolean({
    description: 'While it is set, the deployment does not become `past_due` or `suspended`.',
  }),
  billing_action_suspended_by: Nullable(
    Type.String({ description: 'Who set it, as with when and why: null when it is not set.' }),
  ),
  billing_action_suspended_at: Nullable(Time),
  billing_action_suspended_reason: Nullable(Type.String()),
  template_code: Nullable(Type.String()),
  template_version: Nullable(Type.String()),
  created_at: Time,
  updated_at: Time,
})

export const DeploymentEvent = noun('DeploymentEvent', {
  id: Id,
  deployment_id: Id,
  from_state: State,
  to_state: State,
  actor: Type.String(),
  actor_role: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  created_at: Time,
})

export const Lifecycle = noun('DeploymentLifecycle', {
  first_state: Type.Enum([...STATES], { description: 'Where a new deployment starts.' }),
  states: Type.Array(
    Type.Object({
      state: State,
      subscription_status: Nullable(
        Type.Enum([...SUBSCRIPTION_STATUSES], {
          description: 'What a move here makes of the subscription; null leaves it as it is.',
        }),
      ),
      transitions: Type.Array(
        Type.Object({
          to: State,
          operator_only: Type.Boolean({ description: 'Whether it takes `deployments:operate`.' }),
          billing_action: Type.Boolean({
            description: 'Whether it is held off while `billing_action_suspended` is set.',
          }),
        }),
      ),
    }),
  ),
})

const AllowedTransitions = Type.Array(State, { description: 'Where you may move it from here.' })

export const DeploymentDetail = extended('DeploymentDetail', Deployment, {
  allowed_transitions: AllowedTransitions,
  subscription: Nullable(Subscription),
  events: Type.Array(DeploymentEvent, { maxItems: 50, description: 'The latest 50, newest last.' }),
})

export const MovedDeployment = extended('MovedDeployment', Deployment, {
  allowed_transitions: AllowedTransitions,
  event: DeploymentEvent,
})

export type CloudDeploymentRow = Row<'cloud_deployments'>

export type CloudDeploymentEventRow = Row<'cloud_deployment_events'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_deployments: { state: DeploymentState }
    cloud_deployment_events: { from_state: DeploymentState; to_state: DeploymentState }
  }
}
