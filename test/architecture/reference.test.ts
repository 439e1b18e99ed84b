// Rules about the API reference, asked of docs/openapi.json: everything in it has a name, an example that its own schema
// takes, and its problems. routes.test.ts sees to it that the file is what the service says.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
// It walks the schema; a hundred of them to compile would take longer than all other rules.
import Schema from 'typebox/schema'

// biome-ignore lint/suspicious/noExplicitAny: schemas of every shape
type AnySchema = Record<string, any>

interface Media {
  schema: AnySchema
  example?: unknown
  examples?: Record<string, { $ref: string }>
}
interface Response {
  $ref?: string
  description: string
  content?: Record<string, Media>
}
interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, Response>
}

const { paths, components } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'),
) as {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, AnySchema>
    responses: Record<string, Response>
    examples: Record<string, { value: { status: number; code: string } }>
  }
}
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
)
const source = join(import.meta.dirname, '../../src')
const PROBLEM = 'application/problem+json'
/** Only a race that is lost gives it. */
const WITHOUT_EXAMPLE = ['state_changed']

test('every operation has a summary, a tag, an id of its own and a success, and its errors are problems', () => {
  for (const { name, summary, tags, operationId, responses } of operations) {
    const statuses = Object.keys(responses)
    assert.ok(
      statuses.some(status => status.startsWith('2')),
      name,
    )
    const problems = new Set(problemsOf({ responses }).map(({ status }) => status))
    assert.deepEqual(
      [...problems],
      statuses.filter(status => status >= '400'),
      name,
    )
    assert.ok(summary, name)
    assert.ok(tags?.length, name)
    assert.match(operationId ?? '', /^[a-z][A-Za-z]+$/, name)
  }
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
})

test('every body and every answer has an example, which its own schema takes and describes whole', () => {
  for (const { name, requestBody, responses } of operations) {
    const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
    const media = [requestBody, ...answers.map(([, response]) => response)].flatMap(part =>
      Object.entries(part?.content ?? {}),
    )
    for (const [type, { schema, example }] of media) {
      assert.ok(example !== undefined, `${name} has no example of ${type}: npm run examples`)
      refuseUnlike(closed(schema), example, name)
    }
  }
})

test('what an operation answers with and takes has a name, and every name says what it is of', () => {
  const unnamed = operations.flatMap(({ name, requestBody, responses }) => {
    const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
    const taken = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
    const given = answers.flatMap(
      ([, { content }]) => content?.['application/json']?.schema.properties?.data ?? [],
    )
    return [...taken, ...given.map((data: AnySchema) => data.items ?? data)]
      .filter((schema: AnySchema) => schema.type === 'object')
      .map(() => name)
  })
  assert.deepEqual(unnamed, [])
})

test('every problem of every operation has a code, words and a recorded example', () => {
  for (const operation of operations) {
    for (const { status, code, description, example } of problemsOf(operation)) {
      assert.ok(description.includes(`\`${code}\`: `), `${operation.name} ${status} ${code}`)
      if (WITHOUT_EXAMPLE.includes(code)) continue
      assert.ok(example, `${operation.name} has no example of ${code}: npm run examples`)
      assert.deepEqual([String(example.status), example.code], [status, code], operation.name)
    }
  }
})

test('every code that the source throws is declared by an operation, and no other is', () => {
  const thrown = new Set<string>()
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    const text = readFileSync(join(source, file), 'utf8')
    for (const [, code] of text.matchAll(/(?:conflict\(|new AppError\(\s*'\w+',)\s*'(\w+)'/g))
      thrown.add(code!)
  }
  // Not thrown: what nobody expected.
  thrown.add('internal')
  const declared = new Set(operations.flatMap(problemsOf).map(({ code }) => code))
  assert.deepEqual([...declared].sort(), [...thrown].sort())
})

test('recorded problems are what the reference says a problem is', () => {
  for (const { value } of Object.values(components.examples))
    refuseUnlike(components.schemas.Problem!, value, value.code)
})

function refuseUnlike(schema: AnySchema, value: unknown, name: string): void {
  const [alike, errors] = Schema.Errors(schema, value)
  assert.ok(alike, `${name}: ${errors.map(error => `${error.instancePath} ${error.message}`).join(', ')}`)
}

const named = <T>(things: Record<string, T>, reference = ''): T | undefined =>
  things[reference.split('/').at(-1)!]

/** Each with the words of its response. */
function problemsOf({ responses }: Operation) {
  return Object.entries(responses).flatMap(([status, stands]) => {
    const { description, content } = named(components.responses, stands.$ref) ?? stands
    const { schema, examples } = content?.[PROBLEM] ?? {}
    const codes: string[] = schema?.allOf[1].properties.code.enum ?? []
    return codes.map(code => {
      const example = named(components.examples, examples?.[code]?.$ref)?.value
      return { status, code, description, example }
    })
  })
}

/** The schema, refusing what it does not mention: an answer is to have no member that nothing describes. */
function closed(schema: AnySchema): AnySchema {
  if (schema.$ref) return closed(named(components.schemas, schema.$ref)!)
  const described = [schema.type].flat().includes('object') && Object.keys(schema.properties ?? {}).length > 0
  const inner = Object.entries(schema).map(([key, value]) => [key, closedWithin(value)])
  return { ...(described && { additionalProperties: false }), ...Object.fromEntries(inner) }
}

function closedWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedWithin)
  return typeof value === 'object' && value !== null ? closed(value) : value
}
