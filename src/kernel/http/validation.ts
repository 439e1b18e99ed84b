// Schemas to validators. Bodies are taken literally: no `12` for `"12"`, no null for an empty string, no extra field
// dropped in silence. Query strings are text by nature, so there numbers and booleans are read from it.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'
import type { FieldError } from '../errors.ts'
import { once } from './compiled-once.ts'

/** How many complaints an answer names. */
export const MOST_ERRORS = 20
/** Up to so many values all complaints are collected; a larger body, or query, hears of the first alone. */
const MOST_VALUES = 200

const base: Options = { removeAdditional: false, useDefaults: true, strict: false, verbose: false }

/** The first complaint ends it, and a list's bounds are looked at before its members. */
const quick = (coerceTypes: Options['coerceTypes']) =>
  formats.default(new Ajv({ ...base, coerceTypes, allErrors: false }))
const thorough = (coerceTypes: Options['coerceTypes']) =>
  formats.default(new Ajv({ ...base, coerceTypes, allErrors: true }))

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

/**
 * To collect every complaint about a body costs a thousand times what it costs to read it, when it is a long list of
 * wrong members. So the first complaint decides, and only where there is little to complain of are all collected. That
 * second validator is compiled when it is first needed: most never are.
 */
function bounded(schema: TSchema, how: typeof literal): Validate {
  const first = how.quick.compile(schema)
  let all: ValidateFunction | undefined
  const validate: Validate = data => {
    if (first(data)) return true
    validate.errors = first.errors
    if (!hasFewValues(data)) return false
    all ??= how.thorough.compile(schema)
    if (!all(data)) validate.errors = all.errors
    return false
  }
  return validate
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
    // A union reports each branch's complaint and then itself; the branches say what is wrong.
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
  return message ?? 'is not acceptable'
}
