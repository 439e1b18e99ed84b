// What the API's description has beyond the schemas: every problem of every operation, and examples that were recorded
// from a running service (`npm run examples`).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { COMMON, type DeclaredProblems } from './problems.ts'

/** Where a route's problems travel from the route to here; it is gone from the finished document. */
export const PROBLEMS = 'x-problems'

interface Schema {
  title?: string
  type?: unknown
  default?: unknown
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
interface Media {
  schema?: Schema
  example?: unknown
}
interface Response {
  $ref?: string
  description?: string
  content?: Record<string, Media>
}
interface Operation {
  operationId?: string
  parameters?: { required?: boolean; schema?: Schema }[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Response>
  [PROBLEMS]?: DeclaredProblems
}
interface Document {
  paths?: Record<string, Record<string, Operation>>
  components?: { schemas?: object; examples?: object; responses?: object }
}

/**
 * What docs/examples.json holds: by operation, by status, by media type; and one of each problem, by its code. Where two operations
 * mean different things by a code, the second one's is under `operation.code`.
 */
export interface Examples {
  operations: Record<string, { body?: unknown; answers?: Record<string, Record<string, unknown>> }>
  problems: Record<string, { status: number; detail: string }>
  /** Operations whose requests were found in the audit log. */
  audited: string[]
}

const FILE = join(import.meta.dirname, '../../../docs/examples.json')

const HEADERS: Record<string, object> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' }, description: '`Bearer`.' } },
  429: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } },
  503: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } },
}

const SUCCESS: Record<string, string> = {
  200: 'The answer.',
  201: 'It is there now; `Location` names it.',
  202: 'It will be done; the answer shows it as it stands.',
  204: 'Done; there is nothing to say.',
}

export function finishDocument<T extends object>(document: T): T {
  const { operations, problems } = JSON.parse(readFileSync(FILE, 'utf8')) as Examples
  const { paths = {}, components = {} } = document as Document
  const shared: Record<string, object> = {}

  for (const operation of Object.values(paths).flatMap(methods => Object.values(methods))) {
    const { [PROBLEMS]: declared = {}, parameters = [], requestBody, responses } = operation
    delete operation[PROBLEMS]
    const recorded = operations[operation.operationId ?? '']
    for (const parameter of parameters)
      if (parameter.schema?.default !== undefined) parameter.required = false
    if (requestBody) describeBody(requestBody, recorded?.body)
    for (const [status, response] of Object.entries(responses)) describeSuccess(status, response, recorded)
    for (const [status, codes] of Object.entries(declared)) {
      const name = sharedName(codes)
      if (name) shared[name] ??= problemResponse(status, codes, problems)
      responses[status] = name
        ? { $ref: `#/components/responses/${name}` }
        : problemResponse(status, codes, problems, operation.operationId)
    }
  }
  components.schemas = { ...components.schemas, ...inOrder(nameSchemas(paths)) }
  components.responses = inOrder(shared)
  components.examples = inOrder(
    Object.fromEntries(Object.entries(problems).map(([code, value]) => [code, { value }])),
  )
  Object.assign(document, { components })
  return document
}

/**
 * Moves every schema with a title to the components, where generators of clients find its name, and leaves a reference. A
 * body is named by its operation. One name stands for one schema: that is checked here.
 */
function nameSchemas(paths: NonNullable<Document['paths']>): Record<string, object> {
  const named: Record<string, object> = {}

  function reference(title: string, schema: object): object {
    const known = named[title]
    if (known && !isDeepStrictEqual(known, schema)) throw new Error(`${title} is the name of two schemas`)
    named[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }

  function visit(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(visit)
    if (typeof node !== 'object' || node === null) return node
    const { title, ...rest } = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, key.startsWith('example') ? value : visit(value)]),
    )
    if (typeof title !== 'string') return title === undefined ? rest : { title, ...rest }
    const types = [(rest as Schema).type].flat()
    const ref = reference(title, { ...rest, type: types.find(type => type !== 'null') })
    return types.includes('null') ? { anyOf: [ref, { type: 'null' }] } : ref
  }

  for (const operation of Object.values(paths).flatMap(methods => Object.values(methods))) {
    const { operationId = '', requestBody, responses } = operation
    for (const media of Object.values(requestBody?.content ?? {}))
      if (media.schema?.type === 'object')
        media.schema.title ??= `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`
    if (requestBody) operation.requestBody = visit(requestBody) as typeof requestBody
    operation.responses = visit(responses) as typeof responses
  }
  return named
}

/** A body that may be null may be left out. */
function describeBody(body: NonNullable<Operation['requestBody']>, example: unknown): void {
  for (const media of Object.values(body.content)) {
    const { type, anyOf = [] } = media.schema ?? {}
    if ([type, ...anyOf.map(branch => branch.type)].flat().includes('null')) body.required = false
    if (media.schema) media.schema = asSent(media.schema)
    if (example !== undefined) media.example = example
  }
}

/** For handlers a member with a default is always there; a client may leave it out. */
function asSent(schema: Schema): Schema {
  const { properties, required, items, anyOf } = schema
  const needed = required?.filter(name => properties?.[name]?.default === undefined)
  return {
    ...schema,
    ...(needed && { required: needed.length > 0 ? needed : undefined }),
    ...(items && { items: asSent(items) }),
    ...(anyOf && { anyOf: anyOf.map(asSent) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [name, asSent(member)]),
      ),
    }),
  }
}

function describeSuccess(status: string, response: Response, recorded?: Examples['operations'][string]) {
  if (response.description === 'Default Response') response.description = SUCCESS[status]
  for (const [type, media] of Object.entries(response.content ?? {})) {
    const example = recorded?.answers?.[status]?.[type]
    if (example !== undefined) media.example = example
  }
}

/** The codes, when they mean here what they mean everywhere: most responses are then said once. */
function sharedName(codes: Record<string, string>): string | undefined {
  const names = Object.keys(codes)
  const common: Record<string, string> = COMMON
  return names.every(code => common[code] === codes[code]) ? names.join('_or_') : undefined
}

function problemResponse(
  status: string,
  codes: Record<string, string>,
  problems: Examples['problems'],
  operationId?: string,
): object {
  const names = Object.keys(codes)
  const lines = Object.entries(codes).map(([code, words]) => `\`${code}\`: ${words}`)
  const examples = names.flatMap(code => {
    const name = [`${operationId}.${code}`, code].find(key => key in problems)
    return name ? [[code, { $ref: `#/components/examples/${name}` }]] : []
  })
  return {
    description: names.length === 1 ? lines[0] : lines.map(line => `- ${line}`).join('\n'),
    ...(HEADERS[status] && { headers: HEADERS[status] }),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { type: 'object', properties: { code: { type: 'string', enum: names } } },
          ],
        },
        ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}

const inOrder = (object: Record<string, object>): object =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
