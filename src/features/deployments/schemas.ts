// The API's words for deployments.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, ExternalId, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { Subscription } from '../subscriptions/index.ts'
import { STATES } from './lifecycle.ts'

const State = Type.Enum([...STATES])
const Slug = Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' })
const ShortSlug = Type.String({ pattern: '^[a-z0-9]([a-z0-9_-]{0,30}[a-z0-9])?$' })
const DisplayName = Type.String({ minLength: 1, maxLength: 255 })
const Reason = Type.String({ minLength: 1, maxLength: 1000 })
const Template = Type.String({ minLength: 1, maxLength: 128 })

export const IdParams = Type.Object({ id: Id })

export const CreateDeploymentBody = Body({
  slug: Type.String({ ...Slug, description: 'Unique for the tenant.' }),
  tenant_id: Type.Optional(
    Type.String({
      ...ExternalId,
      description: 'Default: the caller’s. Operators may name any tenant.',
    }),
  ),
  display_name: Type.Optional(Type.String({ ...DisplayName, description: 'Default: the slug.' })),
  region: Type.Optional(Type.String({ ...ShortSlug, default: 'nyc3' })),
  llm_mode: Type.Optional(Type.String({ ...ShortSlug, default: 'standard' })),
  template_code: Type.Optional(Nullable(Template)),
  template_version: Type.Optional(Nullable(Template)),
})

export const UpdateDeploymentBody = Body({
  display_name: Type.Optional(DisplayName),
  template_code: Type.Optional(Nullable(Template)),
  template_version: Type.Optional(Nullable(Template)),
  billing_action_suspended: Type.Optional(
    Type.Boolean({ description: 'For operators: holds moves to `past_due` and `suspended` off.' }),
  ),
  billing_action_suspended_reason: Type.Optional(
    Nullable(Type.String({ ...Reason, description: 'Why; beside `billing_action_suspended: true`.' })),
  ),
})

export const TransitionBody = Body({
  state: State,
  reason: Type.Optional(Nullable(Reason)),
})

export const DeploymentsQuery = Query({
  ...PageQuery,
  state: Type.Optional(State),
  region: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  slug: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  tenant_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'For operators; others see their own.' }),
  ),
})

export const Deployment = Type.Object({
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

export const DeploymentEvent = Type.Object({
  id: Id,
  deployment_id: Id,
  from_state: State,
  to_state: State,
  actor: Type.String(),
  actor_role: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  created_at: Time,
})

const AllowedTransitions = Type.Array(State, { description: 'Where you may move it from here.' })

export const DeploymentDetail = Type.Object({
  ...Deployment.properties,
  allowed_transitions: AllowedTransitions,
  subscription: Nullable(Subscription),
  events: Type.Array(DeploymentEvent, { maxItems: 50, description: 'The latest 50, newest last.' }),
})

export const MovedDeployment = Type.Object({
  ...Deployment.properties,
  allowed_transitions: AllowedTransitions,
  event: DeploymentEvent,
})
