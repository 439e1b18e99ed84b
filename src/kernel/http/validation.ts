// Compiles schemas to validators and serializers. Bodies are taken literally: no coercion, no unknown field dropped in
// silence. Query strings are text, so numbers and booleans are parsed from them.

import { setImmediate } from 'node:timers/promises'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'
import { isCurrency } from '../currencies.ts'
import type { FieldError } from '../errors.ts'

/** How many errors a response lists. */
export const MOST_ERRORS = 20
/** Up to this many values all errors are collected; for larger input only the first. */
const MOST_VALUES = 200

const base: Options = {
  removeAdditional: false,
  useDefaults: true,
  strict: false,
  verbose: false,
  // The schemas are ours, and a test checks them; compiling the schema of schemas takes a tenth of a second of every start.
  validateSchema: false,
}

const CURRENCY = 'iso-4217'

const withFormats = (ajv: Ajv): Ajv => formats.default(ajv).addFormat(CURRENCY, isCurrency)

/** Stops at the first error, and checks a list's bounds before its members. */
const quick = (coerceTypes: Options['coerceTypes']) =>
  withFormats(new Ajv({ ...base, coerceTypes, allErrors: false }))
const thorough = (coerceTypes: Options['coerceTypes']) =>
  withFormats(new Ajv({ ...base, coerceTypes, allErrors: true }))

const literal = { quick: quick(false), thorough: thorough(false), once: once<Validate>() }
const fromText = { quick: quick('array'), thorough: thorough('array'), once: once<Validate>() }

interface Validate {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const how = httpPart === 'body' ? literal : fromText
  return how.once(schema, () => bounded(schema, how)) as ValidateFunction
}

/** Whether a value is as a schema says, for what does not come by HTTP. */
export const fits = (schema: TSchema, value: unknown): boolean =>
  literal.once(schema, () => bounded(schema, literal))(value)

/**
 * Collecting every error of a long list of wrong members costs a thousand times what parsing it does. So the first error
 * decides, and all are collected for small input only.
 */
function bounded(schema: TSchema, how: typeof literal): Validate {
  const first = soon(() => how.quick.compile(schema))
  let all: ValidateFunction | undefined
  const validate: Validate = data => {
    const isValid = first()
    if (isValid(data)) return true
    validate.errors = isValid.errors
    if (!hasFewValues(data)) return false
    // On first use: most never are.
    all ??= how.thorough.compile(schema)
    if (!all(data)) validate.errors = all.errors
    return false
  }
  return validate
}

const pending = new Set<() => unknown>()

/** What is compiled when it is first asked for, or before, when `compileSchemas` comes to it: a start does not wait for it. */
function soon<Compiled>(compile: () => Compiled): () => Compiled {
  let compiled: Compiled | undefined
  const once = () => {
    pending.delete(once)
    compiled ??= compile()
    return compiled
  }
  pending.add(once)
  return once
}

/** Compiles all that is left, a schema in a turn of the event loop, so that the first requests need not. */
export async function compileSchemas(signal?: AbortSignal): Promise<void> {
  for (const compile of pending) {
    if (signal?.aborted) return
    compile()
    await setImmediate()
  }
}

function hasFewValues(data: unknown): boolean {
  let left = MOST_VALUES
  const count = (value: unknown): boolean => {
    left -= 1
    if (left < 0) return false
    if (typeof value !== 'object' || value === null) return true
    if (Array.isArray(value)) return value.length <= left && value.every(count)
    // Not Object.values: that would make a list of all of them first.
    for (const name in value) if (!count((value as Record<string, unknown>)[name])) return false
    return true
  }
  return count(data)
}

/** What is wrong, field by field, with pointers a client can follow. */
export function fieldErrors(errors: FastifySchemaValidationError[], part: string): FieldError[] {
  const found = new Map<string, FieldError>()
  for (const error of errors as ErrorObject[]) {
    // A union reports the errors of each branch and then itself; the branches say what is wrong.
    const field = { pointer: pointerOf(error, part), message: messageOf(error) }
    const key = `${field.pointer} ${field.message}`
    if (!found.has(key)) found.set(key, field)
    if (found.size === MOST_ERRORS) break
  }
  return [...found.values()]
}

function pointerOf({ instancePath, params, keyword }: ErrorObject, part: string): string {
  const missing = keyword === 'required' ? params.missingProperty : undefined
  const extra = keyword === 'additionalProperties' ? params.additionalProperty : undefined
  const name: string | undefined = missing ?? extra
  const pointer = name === undefined ? instancePath : `${instancePath}/${escapePointer(name.slice(0, 128))}`
  return part === 'body' ? pointer : `?${pointer.replace(/^\//, '')}`
}

const escapePointer = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

function messageOf({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not a known field'
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`
  if (keyword === 'format' && params.format === CURRENCY) return 'is not a currency of ISO 4217'
  return message ?? 'is not acceptable'
}

/** Each schema is compiled once for the process, and equal ones together: compiling is most of what building the app costs. */
function once<Compiled>(): (schema: object, compile: () => Compiled) => Compiled {
  const bySchema = new WeakMap<object, Compiled>()
  const byText = new Map<string, Compiled>()
  return (schema, compile) => {
    let compiled = bySchema.get(schema)
    if (compiled) return compiled
    const text = JSON.stringify(schema)
    compiled = byText.get(text) ?? compile()
    byText.set(text, compiled)
    bySchema.set(schema, compiled)
    return compiled
  }
}

type Factory = ReturnType<typeof SerializerSelector>
const serializers = once<ReturnType<ReturnType<Factory>>>()

/** Fastify's own serializers; the schemas they may refer to are the same in every app. */
export const buildSerializer: Factory = (externalSchemas, options) => {
  const compile = SerializerSelector()(externalSchemas, options)
  return route =>
    serializers(route.schema as object, () => {
      const serialize = soon(() => compile(route))
      return data => serialize()(data)
    })
}
