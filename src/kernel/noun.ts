// One declaration of what a noun looks like from the outside. The schema that validates and documents it, its name in the
// API's description, and the JSON that the database writes for lists, details, webhooks and feeds all follow from it.
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'

/**
 * Where a field comes from when it is not the column of its name: SQL, in which `$` stands for the noun's row, or null when
 * the code computes it.
 */
type Sources<Fields> = { [Field in keyof Fields]?: string | null }

const sourcesOf = new WeakMap<TSchema, Record<string, string | null | undefined>>()

/** `title` is the schema's name in the API's description, which gives each name to one schema. */
export function noun<Fields extends TProperties>(
  title: string,
  fields: Fields,
  sources: Sources<Fields> = {},
  description?: string,
): TObject<Fields> {
  const schema = Type.Object(fields, { title, ...(description && { description }) })
  sourcesOf.set(schema, sources)
  return schema
}

/**
 * A noun with further fields, such as a detail page with its latest events. They have no column: whoever reads the noun
 * says where they come from.
 */
export function extended<Fields extends TProperties, More extends TProperties>(
  title: string,
  base: TObject<Fields>,
  more: More,
): TObject<Fields & More> {
  return noun(title, { ...base.properties, ...more }, sourcesOf.get(base) as Sources<Fields & More>)
}

/**
 * SQL that writes a row as the declaration says, as JSON. Of fields that are not columns it must be told the SQL; null
 * leaves a field out.
 */
export function jsonOf(schema: TObject, row: string, fields: Record<string, string | null> = {}): string {
  const known = { ...sourcesOf.get(schema), ...fields }
  const members = Object.entries(schema.properties)
    .filter(([field]) => known[field] !== null)
    .map(
      ([field, type]) =>
        `'${field}', ${known[field]?.replaceAll('$.', `${row}.`) ?? column(row, field, type)}`,
    )
  return `json_build_object(${members.join(', ')})`
}

/** Times as ISO 8601 with Z, whatever the session's time zone is. */
const column = (row: string, field: string, type: TSchema): string =>
  'format' in type && type.format === 'date-time' ? `iso8601(${row}.${field})` : `${row}.${field}`

/** The fields that are columns of the noun's own table. */
export const columnsOf = <Fields extends TProperties>(schema: TObject<Fields>): (keyof Fields & string)[] =>
  Object.keys(schema.properties).filter(field => sourcesOf.get(schema)?.[field] === undefined)

/** Of a row, the fields that the noun shows: what it does not declare, such as a secret, is left out. */
export const fieldsOf = <Fields extends TProperties, Row extends object>(
  schema: TObject<Fields>,
  row: Row,
): Pick<Row, keyof Fields & keyof Row> =>
  Object.fromEntries(
    Object.keys(schema.properties)
      .filter(field => Object.hasOwn(row, field))
      .map(field => [field, row[field as keyof Row]]),
  ) as never
