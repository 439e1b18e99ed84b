// What the API says of itself, and what tests hold it to: which operations write, which answers are declared, and that a
// request under an Idempotency-Key can be sent again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from './http.ts'

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>
}

/** What is asked by POST, because the question is long, and writes nothing. */
const READS = ['backtestCatalog']

/** The names of all operations that must leave an entry. */
export function writingOperations(): string[] {
  const file = join(import.meta.dirname, '../../docs/openapi.json')
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  return Object.values(paths)
    .flatMap(methods => Object.entries(methods))
    .filter(([method]) => method !== 'get')
    .map(([, { operationId }]) => operationId)
    .filter(operation => !READS.includes(operation))
    .sort()
}

interface Key {
  text: string
  retry(first: Answer, send: () => Promise<Answer>): Promise<void>
}

const retried = new Set<string>()

/** For the requests of one test. */
export function keys(): (method: string, path: string) => Key | undefined {
  const counts = new Map<string, number>()
  return (method, path) => {
    const operation = method === 'POST' ? operationAt(method, path) : undefined
    if (!operation?.parameters?.some(({ name }) => name === 'Idempotency-Key')) return undefined
    const { operationId } = operation
    const count = counts.get(operationId) ?? 0
    counts.set(operationId, count + 1)
    if (count % 2 === 1) return undefined
    return {
      text: randomUUID(),
      async retry(first, send) {
        if (first.status >= 300 || retried.has(operationId)) return
        retried.add(operationId)
        const again = await send()
        assert.deepEqual([again.status, again.text], [first.status, first.text], `${operationId}, sent again`)
        assert.equal(again.headers.get('idempotency-replayed'), 'true', `${operationId}, sent again`)
      },
    }
  }
}

interface Media {
  schema: { allOf?: { properties?: { code?: { enum: string[] } } }[] }
}
interface Response {
  $ref?: string
  content?: Record<string, Media>
}
interface Operation {
  parameters?: { name: string }[]
  operationId: string
  responses: Record<string, Response>
}
interface Pattern {
  segments: string[]
  methods: Record<string, Operation>
}

/** Answered before there is a request that could be an operation's. */
const NO_REQUEST = new Set([408, 431])
const PROBLEM = 'application/problem+json'
const FILE = join(import.meta.dirname, '../../docs/openapi.json')

interface Description {
  paths: Record<string, Record<string, Operation>>
  components: { responses: Record<string, Response> }
}

let patterns: Map<number, Pattern[]> | undefined
let shared: Record<string, Response> = {}

function read(): Map<number, Pattern[]> {
  const { paths, components } = JSON.parse(readFileSync(FILE, 'utf8')) as Description
  shared = components.responses
  const byLength = new Map<number, Pattern[]>()
  for (const [path, methods] of Object.entries(paths)) {
    const segments = path.split('/')
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), { segments, methods }])
  }
  return byLength
}

/** As the router does it: a segment that is written out goes before a parameter. */
export function operationAt(method: string, path: string): Operation | undefined {
  patterns ??= read()
  const segments = path.split('?')[0]!.split('/')
  const isParameter = (segment: string) => segment.startsWith('{')
  const fits = (pattern: Pattern) =>
    pattern.segments.every((segment, index) => isParameter(segment) || segment === segments[index])
  const [best] = (patterns.get(segments.length) ?? [])
    .filter(fits)
    .sort((a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length)
  return best?.methods[method === 'HEAD' ? 'get' : method.toLowerCase()]
}

export function refuseUndeclared(method: string, path: string, status: number, body: unknown): void {
  const operation = operationAt(method, path)
  if (!operation || NO_REQUEST.has(status)) return
  const stands = operation.responses[status]
  const name = stands?.$ref?.split('/').at(-1)
  const response = name === undefined ? stands : shared[name]
  if (!response)
    throw new Error(
      `${method} ${path} answered ${status}, which its description does not have: ${JSON.stringify(body)}`,
    )
  const codes = response.content?.[PROBLEM]?.schema.allOf?.[1]?.properties?.code?.enum
  const { code } = (body ?? {}) as { code?: string }
  if (codes && code !== undefined && !codes.includes(code))
    throw new Error(`${method} ${path} answered ${status} ${code}; its description has ${codes.join(', ')}`)
}
