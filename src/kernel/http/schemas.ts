// Schemas that every feature uses.
import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox'

export const Id = Type.String({ format: 'uuid', description: 'UUIDv7.' })
export const Time = Type.String({ format: 'date-time', description: 'UTC, ISO 8601 with Z.' })
/** Tenants and users are the issuer's: opaque text. */
export const ExternalId = Type.String({ minLength: 1, maxLength: 128 })

/**
 * The schema's type or null, as `type: [T, 'null']`. For a union the serializer would validate each value to find its
 * branch, which costs more than writing a small response.
 */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { type, ...rest } = schema as TSchema & { type?: unknown }
  const simple = typeof type === 'string' && !('const' in rest) && !('enum' in rest)
  return Type.Unsafe(simple ? { type: [type, 'null'], ...rest } : Type.Union([schema, Type.Null()]))
}

/** Sums are worked out as bigints, and written whole however large. */
export const Whole = (description?: string) =>
  Type.Unsafe<bigint>(Type.Integer(description === undefined ? {} : { description }))
export const Decimal = (description: string) => Type.String({ pattern: '^-?\\d+(\\.\\d+)?$', description })

/** A body: unknown fields are refused, naming them. */
export const Body = <T extends TProperties>(
  properties: T,
  options: { title?: string; description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...options })

/** For a request without a body; an empty object is accepted as well. */
export const NoBody = Type.Union([Type.Null(), Type.Object({}, { additionalProperties: false })])

/** Query parameters: an unknown one is refused, because a misspelt filter would silently list everything. */
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
