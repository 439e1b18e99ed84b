// Pieces of schema that every feature's vocabulary shares.
import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

export const Id = Type.String({ format: 'uuid', description: 'UUIDv7.' })
export const Time = Type.String({ format: 'date-time', description: 'UTC, ISO 8601 with Z.' })
/** Tenants and users are the issuer's: opaque text. */
export const ExternalId = Type.String({ minLength: 1, maxLength: 128 })

/**
 * The schema's type or null, as `type: [T, 'null']`. A union says the same, but to write one of its branches the
 * serializer validates each value against them, and that costs more than writing a small answer does.
 */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type, ...rest } = schema as TSchema & { type?: unknown }
  const simple = typeof type === 'string' && !('const' in rest) && !('enum' in rest)
  return Type.Unsafe(simple ? { type: [type, 'null'], ...rest } : Type.Union([schema, Type.Null()]))
}

/** A body: unknown fields are refused, naming them. */
export const Body = <T extends TProperties>(properties: T, options: { description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

/** A request that takes no body; an empty object will do as well. */
export const NoBody = Type.Union([Type.Null(), Type.Object({}, { additionalProperties: false })])

/** Query parameters: an unknown one is refused, or a misspelt filter would quietly list everything. */
export const Query = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

export const One = <T extends TSchema>(schema: T) => Type.Object({ data: schema })
export const Many = <T extends TSchema>(schema: T) =>
  Type.Object({
    data: Type.Array(schema),
    next_cursor: Nullable(
      Type.String({ description: 'Send as `?cursor=` for the next page; null on the last.' }),
    ),
  })
