// What the workflows are started with, what a leak looks like, and the pure rules of provisioning.
import { createHash, randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import type { MappedItem } from '../../integrations/digitalocean/index.ts'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { jsonOf, noun } from '../../kernel/noun.ts'
import type { DeploymentState } from '../deployments/index.ts'
import type { Entitlement } from '../subscriptions/index.ts'

/** The workflows' names. */
export const PROVISION = 'provision_deployment'
export const DEPROVISION = 'deprovision_deployment'

const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'

/** Labels of up to 63 letters, digits and inner hyphens, joined by dots. */
export const HOSTNAME = `^${LABEL}(\\.${LABEL})*$`
export const LONGEST_HOSTNAME = 253

const ProviderSlug = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$' })

const request = {
  size: Type.String({ ...ProviderSlug, description: 'A size of the provider, such as `s-1vcpu-1gb`.' }),
  image: Type.Union([ProviderSlug, Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })], {
    description: 'An image’s slug, or the id of one of your own.',
  }),
  region: Type.Optional(Type.String({ ...ProviderSlug, description: 'Default: the deployment’s.' })),
  name: Type.Optional(
    Type.String({
      pattern: HOSTNAME,
      maxLength: LONGEST_HOSTNAME,
      description: 'A hostname. Default: the deployment’s slug and a short unique part.',
    }),
  ),
}

export const ProvisionBody = Body(request, { title: 'ProvisionDeployment' })
export const ProvisionRequest = Body({ deployment_id: Id, ...request })
export const DeprovisionRequest = Body({ deployment_id: Id })

/** The inputs of a run of provision_deployment, with the defaults filled in. */
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

const LeakedResource = noun('LeakedResource', {
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
})

/** SQL: why a resource is a leak, by the run `s` that its tag names. */
export const LEAK_REASON = `case when s.id is null then 'run_unknown' when s.status = 'completed' then 'not_owned'
  else 'run_' || s.status end`

/** A row of cloud_resources, with the id `l.saga_id` that its tag names and the run `s` of that id. */
export const Leak = noun(
  'Leak',
  {
    saga_id: Type.String({ description: 'As the tag names it.' }),
    reason: Type.Enum(['run_rolled_back', 'run_failed', 'run_unknown', 'not_owned'], {
      description: '`not_owned`: the run completed, but this is not (or no longer) what it keeps.',
    }),
    run_status: Nullable(Type.String({ description: 'Null: no run has this id.' })),
    run_kind: Nullable(Type.String()),
    since: Type.String({
      ...Time,
      description: 'When it was first seen, or when the run ended if that was later.',
    }),
    resource: LeakedResource,
  },
  {
    saga_id: 'l.saga_id',
    reason: LEAK_REASON,
    run_status: 's.status',
    run_kind: 's.kind',
    since: 'iso8601(greatest($.first_seen_at, s.finished_at))',
    resource: jsonOf(LeakedResource, '$'),
  },
)

export const SAGA_TAG = 'saga:'

/** The tag of what a saga makes at the provider. */
export const sagaTag = (sagaId: string): string => `${SAGA_TAG}${sagaId}`

/** The actor in the events of what a saga does. */
export const sagaActor = (sagaId: string): string => `saga:${sagaId}`

/** One that is past due is still served; one that is paused, suspended or over is not. Any may be deprovisioned. */
const PROVISIONABLE: readonly DeploymentState[] = ['trial', 'active', 'past_due']

/** Why a deployment in this state is given no droplets; null when it is. */
export const refusedState = (state: DeploymentState): string | null =>
  PROVISIONABLE.includes(state)
    ? null
    : `a deployment that is ${state} is given no droplets; it has to be ${PROVISIONABLE.join(', ').replace(/, (?=\w+$)/, ' or ')}`

/**
 * How many of a kind a subscription allows. A hard cap is the limit, also where no overage price is agreed: addons raise
 * what is included, never the cap. Without a cap the limit is what plan and addons include, or none where there are overage
 * terms. Null: no limit.
 */
export function planLimit(entitlement: Entitlement | undefined): number | null {
  if (!entitlement?.item) return null
  const { included_qty, overage_price_cents, hard_cap_qty } = entitlement.item
  if (hard_cap_qty !== null) return hard_cap_qty
  return overage_price_cents === null ? included_qty + entitlement.addon_qty : null
}

export const planFull = (kind: string, limit: number, taken: number): string =>
  `the plan allows ${limit} of ${kind}, and ${taken} ${taken === 1 ? 'is' : 'are'} there or being made`

/** `<slug>-<short unique part>`: one label of a hostname, however long the slug is. */
export function defaultDropletName(slug: string): string {
  const part = randomBytes(4).toString('hex')
  return `${slug.slice(0, 63 - part.length - 1).replace(/-+$/, '')}-${part}`
}

/**
 * The name of a tenant's project at the provider, where names are unique and at most 175 characters long: always the same
 * for one tenant, and never the same for two.
 */
export function tenantProjectName(tenantId: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,127}$/.test(tenantId)) return `tenant ${tenantId}`
  // The hash distinguishes what the provider may fold or refuse: case, blanks, signs.
  const readable = tenantId.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 100)
  return `tenant ${readable} ${createHash('sha256').update(tenantId).digest('hex').slice(0, 16)}`
}

/** What a requested size and image become. */
const DELIVERED = ['vcpus', 'memory', 'disk', 'image'] as const

/** The spec of a provisioned droplet. Fields are named as in the inventory, so that sweeps can compare each. */
export function desiredSpec(
  { name, region, size }: Pick<ProvisionInputs, 'name' | 'region' | 'size'>,
  tags: string[],
  { attrs }: MappedItem,
): Record<string, unknown> {
  const delivered = DELIVERED.filter(field => Object.hasOwn(attrs, field)).map(field => [field, attrs[field]])
  return { name, region, size_slug: size, tags: tags.toSorted(), ...Object.fromEntries(delivered) }
}
