// The worst that an operation can be sent, made from its own description: bodies as large as it takes of all that is
// dear to read or to refuse, and queries as long as Node lets through.

export interface Schema {
  type?: string | string[]
  anyOf?: Schema[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean
  items?: Schema
  maxItems?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
}

export interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
}

/** Name → body, each at most `limit` bytes. */
export function worstBodies(schema: Schema, limit: number): Map<string, string> {
  const bodies = new Map<string, string>()
  const put = (name: string, before: string, filling: (index: number) => string, after: string) => {
    const room = limit - before.length - after.length
    const parts: string[] = []
    let length = 0
    for (let index = 0; ; index++) {
      const part = filling(index)
      length += part.length
      if (length > room) break
      parts.push(part)
    }
    bodies.set(name, `${before}${parts.join('')}${after}`)
  }

  put('unknown fields', '{"a":1', index => `,"k${index}":1`, '}')
  put('unknown fields with escapes', '{"a":1', index => `,"\\u006b${index}":1`, '}')
  put('a field twice, at the very end', '{"a":1', index => `,"k${index}":1`, ',"a":1}')
  put('numbers', '[1', () => ',1', ']')
  put('empty lists', '[[]', () => ',[]', ']')
  put('empty objects', '[{}', () => ',{}', ']')
  put('texts', '[""', () => ',""', ']')
  put('nested lists', '', () => '[', '')
  put('nested objects', '', () => '{"a":', '')
  put('as deep as is taken, many times', '[0', () => `,${'['.repeat(31)}${']'.repeat(31)}`, ']')
  put('blanks', '{}', () => ' ', '')
  put('escapes', '{"a":"', () => '\\u0061', '"}')
  put('a number of many digits', '[0.', () => '1', ']')
  put('a body that is cut off', '{"a":"', () => 'x', '')
  for (const [path, member] of members(schema)) {
    const open = path.map(name => `{"${name}":`).join('')
    const close = '}'.repeat(path.length)
    const at = path.join('.')
    for (const type of typesOf(member)) {
      if (type === 'string') {
        put(`${at}: letters`, `${open}"`, () => 'a', `"${close}`)
        put(`${at}: blanks`, `${open}"`, () => ' ', `"${close}`)
        put(`${at}: labels`, `${open}"`, () => 'a.', `"${close}`)
        put(`${at}: hyphens`, `${open}"a`, () => '-', `"${close}`)
        put(`${at}: slashes`, `${open}"a`, () => '/a', `"${close}`)
        put(`${at}: at signs`, `${open}"a`, () => '@', `"${close}`)
        put(`${at}: digits`, `${open}"2026-01-01T00:00:00.`, () => '0', `"${close}`)
        put(`${at}: astral characters`, `${open}"`, () => '\\ud83d\\ude00', `"${close}`)
      }
      if (type === 'array') {
        put(`${at}: numbers`, `${open}[1`, () => ',1', `]${close}`)
        put(`${at}: empty objects`, `${open}[{}`, () => ',{}', `]${close}`)
        put(`${at}: texts`, `${open}["x0"`, index => `,"x${index + 1}"`, `]${close}`)
        put(`${at}: empty texts`, `${open}[""`, () => ',""', `]${close}`)
        put(`${at}: wrong objects`, `${open}[1`, index => `,{"k${index}":[],"code":1}`, `]${close}`)
      }
      if (type === 'object') {
        put(`${at}: unknown fields`, `${open}{"a":1`, index => `,"k${index}":1`, `}${close}`)
        put(
          `${at}: lists in lists`,
          `${open}{"a":[0`,
          () => `,${'['.repeat(6)}${']'.repeat(6)}`,
          `]}${close}`,
        )
        put(`${at}: a long text`, `${open}{"a":"`, () => 'x', `"}${close}`)
      }
    }
  }
  const list = schema.anyOf?.find(({ items }) => items?.properties)
  if (list) {
    const names = Object.keys(list.items!.properties!)
    const members = names.map(name => `"${name}":"${'x'.repeat(100)}"`).join(',')
    put('a list of objects of long texts', `[{${members}}`, () => `,{${members}}`, ']')
    put('a list of objects of escapes', '[{}', () => `,{"${names[0]}":"${'\\u0061'.repeat(40)}"}`, ']')
  }
  const large = largestBody(schema)
  if (large.length <= limit) bodies.set('the largest it takes', large)
  return bodies
}

/** Query strings of at most `length` characters. */
export function worstQueries(parameters: string[], length: number): Map<string, string> {
  const queries = new Map<string, string>()
  const put = (name: string, filling: (index: number) => string) => {
    let query = '?'
    for (let index = 0; query.length + filling(index).length <= length; index++) query += filling(index)
    queries.set(name, query)
  }
  put('thousands of parameters', index => `k${index}&`)
  put('parameters without a name', () => '=&')
  put('percent signs', () => '%61')
  put('broken percent signs', () => '%')
  for (const name of parameters) {
    put(`${name}: many times`, () => `${name}=1&`)
    put(`${name}: long`, index => (index === 0 ? `${name}=` : 'a'))
  }
  return queries
}

/** The largest body of the schema, every character that may be is an escape. */
export const largestBody = (schema: Schema): string =>
  JSON.stringify(largest(schema)).replaceAll('ä', '\\u00e4')

const typesOf = (schema: Schema): string[] =>
  schema.anyOf ? schema.anyOf.flatMap(typesOf) : [schema.type ?? (schema.enum ? 'string' : [])].flat()

/** Every member that a body can have, by its path; those of a list's members too. */
function members(schema: Schema, path: string[] = []): [string[], Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    [[...path, name], member] as [string[], Schema],
    ...members(member, [...path, name]),
  ])
}

function largest(schema: Schema): unknown {
  if (schema.anyOf) return largest(schema.anyOf.at(-1)!)
  if (schema.enum) return schema.enum[0]
  const [type] = typesOf(schema)
  if (type === 'array') {
    const count = schema.items?.enum?.length ?? schema.maxItems ?? 0
    return Array.from(
      { length: count },
      (_, index) => schema.items?.enum?.[index] ?? distinct(largest(schema.items!), index),
    )
  }
  if (type === 'object') {
    if (schema.additionalProperties)
      return Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, 'x'.repeat(600)]))
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, member]) => [name, largest(member)]),
    )
  }
  if (type === 'integer') return schema.minimum ?? 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (schema.format === 'date-time') return '2030-01-01T00:00:00Z'
  if (schema.format === 'date') return '2030-01-01'
  if (schema.format === 'uuid') return '01980000-0000-7000-8000-000000000000'
  if (schema.format === 'iso-4217') return 'USD'
  return schema.pattern ? 'a'.repeat(40) : 'ä'.repeat(schema.maxLength ?? 40)
}

/** Members of a list that must not be alike. */
function distinct(value: unknown, index: number): unknown {
  if (typeof value === 'string') return `${value.slice(0, 40)}${index}`
  if (typeof value !== 'object' || value === null) return value
  const [first, ...rest] = Object.entries(value)
  return Object.fromEntries([[first![0], distinct(first![1], index)], ...rest])
}

/** The schema with every name of the API's description replaced by what it stands for. */
export function resolved(schema: object, schemas: Record<string, object>): Schema {
  const named = '$ref' in schema ? schemas[String(schema.$ref).split('/').at(-1)!]! : schema
  return Object.fromEntries(
    Object.entries(named).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null && !Array.isArray(value) ? resolved(value, schemas) : value,
    ]),
  )
}
