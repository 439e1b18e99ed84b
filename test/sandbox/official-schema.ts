// Decides whether an answer conforms to the provider's official specification: finds the operation a
// request belongs to and checks the body against its response schema, OpenAPI 3.0 turned into JSON Schema.
import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'

type Json = Record<string, unknown>

const location = new URL('../../src/integrations/digitalocean/specification/openapi.json', import.meta.url)
const specification = JSON.parse(readFileSync(location, 'utf8')) as {
  paths: Record<string, Record<string, { operationId?: string; responses?: Record<string, Json> }>>
  components: Json & { responses: Record<string, Json>; schemas: Record<string, Json> }
}

// The official pattern of a project resource's URN leaves apps out, although the same specification's prose
// ("Supported Resource Types") lists `do:app:…` among the supported ones.
for (const name of ['urn', 'urn-2']) {
  const schema = specification.components.schemas[name]!
  schema.pattern = String(schema.pattern).replace('dbaas|', 'app|dbaas|')
}

// The official schema spells the counts of tagged images `imgages`, while every official example and the
// real provider say `images`; both are optional, so either passes and nothing needs changing here.

/** OpenAPI 3.0 says `nullable`, JSON Schema says so in the type (and in the enum, when there is one). */
function withNull(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withNull)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'examples' || key === 'example' ? null : withNull(value),
    ]),
  ) as Json
  if (nullable !== true) return { ...rest, ...(typeof nullable === 'object' ? { nullable } : {}) }
  if (rest.type !== undefined) rest.type = [rest.type, 'null'].flat()
  if (Array.isArray(rest.enum)) rest.enum = [...rest.enum, null]
  return rest
}

// Some official patterns hold escapes that only pass without the u flag.
const ajv = new Ajv({
  strict: false,
  allErrors: true,
  validateSchema: false,
  logger: false,
  unicodeRegExp: false,
})
addFormats.default(ajv)
ajv.addFormat('cidr', /^[0-9a-f.:]+\/\d{1,3}$/)
ajv.addSchema(withNull(specification) as Json, 'provider')

type Operation = { id: string; statuses: Record<string, string> }

const operations: { method: string; template: RegExp; literal: number; operation: Operation }[] = []
for (const [path, methods] of Object.entries(specification.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    if (operation.operationId === undefined) continue
    const statuses = Object.fromEntries(
      Object.entries(operation.responses ?? {}).map(([status, response]) => [
        status,
        String(response.$ref ?? ''),
      ]),
    )
    operations.push({
      method: method.toUpperCase(),
      template: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
      literal: path.replaceAll(/\{[^}]+\}/g, '').length,
      operation: { id: operation.operationId, statuses },
    })
  }
}
// `/v2/projects/default` before `/v2/projects/{project_id}`.
operations.sort((a, b) => b.literal - a.literal)

export function operationOf(method: string, path: string): Operation | undefined {
  return operations.find(entry => entry.method === method && entry.template.test(path))?.operation
}

const validators = new Map<string, ValidateFunction>()

/** What is wrong with an answer; an empty list means it conforms. */
export function violations(operation: Operation, status: number, body: unknown): string[] {
  const reference = operation.statuses[String(status)]
  if (reference === undefined) return [`${operation.id} documents no status ${status}`]
  const name = reference.split('/').at(-1)!
  const content = specification.components.responses[name]?.content as Json | undefined
  if (content === undefined)
    return body === undefined ? [] : [`${operation.id} documents no body for ${status}`]
  if (content['application/json'] === undefined) return []
  let validate = validators.get(name)
  if (validate === undefined) {
    validate = ajv.compile({
      $ref: `provider#/components/responses/${name}/content/application~1json/schema`,
    })
    validators.set(name, validate)
  }
  return validate(body) ? [] : (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`)
}
