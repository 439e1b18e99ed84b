// The API's words for drift.
import { Type } from 'typebox'
import { kindNames } from '../../integrations/digitalocean/index.ts'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { extended, noun } from '../../kernel/noun.ts'
import { LONGEST_FIELD, MOST_FIELDS } from './spec-bounds.ts'
import { DRIFT_STATUSES } from './tables.ts'

const KindName = Type.Enum([...kindNames])

export const IdParams = Type.Object({ id: Id })

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

export const DriftQuery = Query({
  ...PageQuery,
  status: Type.Optional(Type.Enum([...DRIFT_STATUSES], { description: 'Default: `open`.' })),
  kind: Type.Optional(KindName),
  resource_id: Type.Optional(Id),
  ignored: Type.Boolean({
    default: false,
    description: 'Mismatches that a rule covers, instead of drift; not together with `status`.',
  }),
})

const Spec = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: MOST_FIELDS,
  propertyNames: { minLength: 1, maxLength: LONGEST_FIELD },
  additionalProperties: true,
  description: 'Field → desired value.',
})

export const DesiredStateBody = Body({ spec: Spec })

export const DesiredState = noun('DesiredState', {
  spec: Spec,
  spec_version: Type.Integer({ description: 'Goes up with every change of the spec.' }),
  saga_id: Nullable(Id),
})

const FieldPattern = Type.String({
  minLength: 1,
  maxLength: LONGEST_FIELD,
  description: 'A field’s name; `*` stands for any run of characters.',
})
const Reason = Type.String({ minLength: 1, maxLength: 1000 })

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

export const CreateIgnoreRuleBody = Body({
  kind: Type.Optional(Nullable(KindName)),
  resource_id: Type.Optional(Nullable(Id)),
  field: FieldPattern,
  reason: Reason,
  expires_at: Type.Optional(Nullable(Time)),
})
