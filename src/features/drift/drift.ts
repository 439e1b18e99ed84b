// What drift, desired states and ignore rules look like: in the API, in webhooks and in the tables.
import type { ColumnType } from 'kysely'
import { Type } from 'typebox'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { ActionBehind } from '../inventory/index.ts'
import { LONGEST_FIELD, MOST_FIELDS } from './spec.ts'

export const DRIFT_STATUSES = ['open', 'accepted', 'reverted', 'stale'] as const
export type DriftStatus = (typeof DRIFT_STATUSES)[number]

export const KindName = Type.Enum([...kindNames])

/** A row of cloud_drift, with what is shown of its resource `r`. */
export const Drift = noun(
  'Drift',
  {
    id: Id,
    resource_id: Id,
    kind: KindName,
    name: Type.String(),
    provider_id: Type.String(),
    tenant_id: Nullable(Type.String()),
    resource_deleted_at: Nullable(
      Type.String({ ...Time, description: 'When the resource itself was found to be gone.' }),
    ),
    field: Type.String({
      description: '`deleted_at`: not a field differs, the resource is gone; then this is its only row.',
    }),
    desired: Type.Unknown(),
    actual: Type.Unknown({ description: 'Null when the field is missing.' }),
    status: Type.Enum([...DRIFT_STATUSES, 'ignored'], {
      description:
        '`ignored`: a mismatch that a rule covers; it never opened, or not since the rule was made.',
    }),
    detected_at: Time,
    last_detected_at: Time,
    resolved_at: Nullable(Time),
    resolved_by: Nullable(Type.String({ description: 'Who accepted it, or the sweep that closed it.' })),
    ignore_rule_id: Nullable(Id),
    action: ActionBehind,
  },
  {
    name: 'r.name',
    provider_id: 'r.provider_id',
    tenant_id: 'r.tenant_id',
    resource_deleted_at: 'iso8601(r.deleted_at)',
    ignore_rule_id: 'null',
  },
)

export const AcceptedDrift = extended('AcceptedDrift', Drift, {
  spec_version: Type.Integer({ description: 'Of the desired state, with the live value in it.' }),
})

export const Spec = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: MOST_FIELDS,
  propertyNames: { minLength: 1, maxLength: LONGEST_FIELD },
  additionalProperties: true,
  description: 'Field → desired value.',
})

export const DesiredState = noun('DesiredState', {
  spec: Spec,
  spec_version: Type.Integer({ description: 'Goes up with every change of the spec.' }),
  saga_id: Nullable(Id),
})

export const FieldPattern = Type.String({
  minLength: 1,
  maxLength: LONGEST_FIELD,
  description: 'A field’s name; `*` stands for any run of characters.',
})

export const IgnoreRule = noun('IgnoreRule', {
  id: Id,
  kind: Nullable(Type.String({ description: 'Null: any.' })),
  resource_id: Nullable(Type.String({ ...Id, description: 'Null: any.' })),
  field: FieldPattern,
  reason: Type.String(),
  expires_at: Nullable(Time),
  created_by: Type.String(),
  created_at: Time,
})

export type DriftIgnoreRuleRow = Row<'drift_ignore_rules'>

/**
 * `tenant_id` is the resource's tenant when the desired state was written: with another tenant it is compared with nothing.
 * `attributes`, `singles` and `tags` are parts of the spec that the database computes for the sweep.
 */
export type CloudProvisionedRow = Row<'cloud_provisioned'>

type Computed<T> = ColumnType<T, never, never>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_provisioned: {
      spec: Record<string, unknown>
      attributes: Computed<Record<string, unknown>>
      singles: Computed<Record<string, unknown> | null>
    }
    cloud_drift: { status: DriftStatus }
  }
}
