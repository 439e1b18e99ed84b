// The API's words for provisioning, and the inputs of its workflows.
import { type Static, Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { HOSTNAME, LONGEST_HOSTNAME } from './droplet-name.ts'

const ProviderSlug = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' })

const Size = Type.String({ ...ProviderSlug, description: 'A size of the provider, such as `s-1vcpu-1gb`.' })
const Image = Type.Union([ProviderSlug, Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })], {
  description: 'An image’s slug, or the id of one of your own.',
})
const Region = Type.String({ ...ProviderSlug, description: 'Default: the deployment’s.' })
const Name = Type.String({
  pattern: HOSTNAME,
  maxLength: LONGEST_HOSTNAME,
  description: 'A hostname. Default: the deployment’s slug and a short unique part.',
})

const order = { size: Size, image: Image, region: Type.Optional(Region), name: Type.Optional(Name) }

export const ProvisionBody = Body(order)
export const ProvisionRequest = Body({ deployment_id: Id, ...order })
export const DeprovisionRequest = Body({ deployment_id: Id })

/** What a run of provision_deployment is started with, once everything is worked out. */
export interface ProvisionInputs {
  deployment_id: string
  size: string
  image: string | number
  region: string
  name: string
}

export interface DeprovisionInputs {
  deployment_id: string
}

export const IdParams = Type.Object({ id: Id })

export const LeaksQuery = Query({ ...PageQuery })

const LEAK_REASONS = ['run_rolled_back', 'run_failed', 'run_unknown', 'not_owned'] as const

export const Leak = Type.Object({
  saga_id: Type.String({ description: 'As the tag names it.' }),
  reason: Type.Enum([...LEAK_REASONS], {
    description: '`not_owned`: the run completed, but this is not (or no longer) what it keeps.',
  }),
  run_status: Nullable(Type.String({ description: 'Null: no run has this id.' })),
  run_kind: Nullable(Type.String()),
  since: Type.String({
    ...Time,
    description: 'When it was first seen, or when the run ended if that was later.',
  }),
  resource: Type.Object({
    id: Id,
    provider_id: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    region: Nullable(Type.String()),
    status: Nullable(Type.String()),
    tenant_id: Nullable(Type.String()),
    deployment_id: Nullable(Id),
    tags: Type.Array(Type.String()),
    first_seen_at: Time,
    last_seen_at: Time,
  }),
})
export type Leak = Static<typeof Leak>
