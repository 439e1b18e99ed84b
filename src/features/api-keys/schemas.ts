// The API's words for API keys.
import { Type } from 'typebox'
import { Body, ExternalId, Id, Nullable, Time } from '../../kernel/http/schemas.ts'

/** A user's name is the issuer's: any text of 1 to 128 characters, but NUL, which no column takes. */
export const UserParams = Type.Object({
  user_id: Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' }),
})
export const KeyParams = Type.Object({ ...UserParams.properties, key_id: Id })

const Description = Nullable(Type.String({ maxLength: 255 }))
const ExpiresAt = Nullable(Type.String({ format: 'date-time', description: 'In the future; null: never.' }))

/** 30 days. */
const LONGEST_GRACE = 2_592_000

export const CreateBody = Nullable(
  Body({
    description: Type.Optional(Description),
    expires_at: Type.Optional(ExpiresAt),
    tenant_id: Type.Optional(
      Type.String({
        ...ExternalId,
        description:
          'The tenant that the key acts in; by default that of your token. Others than a platform_admin may name only their own.',
      }),
    ),
  }),
)

export const RotateBody = Nullable(
  Body({
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LONGEST_GRACE,
        default: 0,
        description: 'How long the old key lives on; at most 30 days, and never past its own expiry.',
      }),
    ),
    description: Type.Optional({ ...Description, description: 'By default that of the old key.' }),
    expires_at: Type.Optional({
      ...ExpiresAt,
      description: 'In the future; null: never. By default the new key lives as long as the old one was to.',
    }),
  }),
)

export const RevokeBody = Nullable(Body({ reason: Type.Optional(Nullable(Type.String({ maxLength: 500 }))) }))

export const ApiKey = Type.Object({
  id: Id,
  key_prefix: Type.String({ description: 'The eight characters after `cops_`.' }),
  description: Nullable(Type.String()),
  created_at: Time,
  last_used_at: Nullable(Type.String({ format: 'date-time', description: 'Written once a minute at most.' })),
  expires_at: Nullable(Time),
  revoked_at: Nullable(Time),
  is_active: Type.Boolean({ description: 'Neither revoked nor expired.' }),
})

export const CreatedApiKey = Type.Object({
  api_key: Type.String({ description: 'The key itself. It is shown here and never again.' }),
  key_id: Id,
  key_prefix: Type.String(),
  user_id: Type.String(),
  description: Nullable(Type.String()),
  created_at: Time,
  expires_at: Nullable(Time),
  warning: Type.String(),
})
