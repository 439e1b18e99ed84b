// Rules about the API reference, asked of docs/openapi.json: everything in it has a name and its problems. routes.test.ts sees to it that the file is what the service says.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

// biome-ignore lint/suspicious/noExplicitAny: schemas of every shape
type AnySchema = Record<string, any>

interface Media {
  schema: AnySchema
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
    responses: Record<string, Response>
  }
}
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
)
const source = join(import.meta.dirname, '../../src')
const PROBLEM = 'application/problem+json'

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

test('every problem of every operation has a code and words', () => {
  for (const operation of operations) {
    for (const { status, code, description } of problemsOf(operation)) {
      assert.ok(description.includes(`\`${code}\`: `), `${operation.name} ${status} ${code}`)
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

const named = <T>(things: Record<string, T>, reference = ''): T | undefined =>
  things[reference.split('/').at(-1)!]

/** Each with the words of its response. */
function problemsOf({ responses }: Operation) {
  return Object.entries(responses).flatMap(([status, stands]) => {
    const { description, content } = named(components.responses, stands.$ref) ?? stands
    const { schema } = content?.[PROBLEM] ?? {}
    const codes: string[] = schema?.allOf[1].properties.code.enum ?? []
    return codes.map(code => ({ status, code, description }))
  })
}
