// Schemas to validators. Bodies are taken literally: no `12` for `"12"`, no null for an empty string, no extra field
// dropped in silence. Query strings are text by nature, so there numbers and booleans are read from it.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'
import type { FieldError } from '../errors.ts'
import { once } from './compiled-once.ts'

const MOST_ERRORS = 20

const base: Options = {
  removeAdditional: false,
  useDefaults: true,
  allErrors: true,
  strict: false,
  verbose: false,
}

const literal = formats.default(new Ajv({ ...base, coerceTypes: false }))
const fromText = formats.default(new Ajv({ ...base, coerceTypes: 'array' }))
const literalOnce = once<ValidateFunction>()
const fromTextOnce = once<ValidateFunction>()

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  httpPart === 'body'
    ? literalOnce(schema, () => literal.compile(schema))
    : fromTextOnce(schema, () => fromText.compile(schema))

/** What is wrong, field by field, with pointers a client can follow. */
export function fieldErrors(errors: FastifySchemaValidationError[], part: string): FieldError[] {
  const seen = new Set<string>()
  const found: FieldError[] = []
  for (const error of errors as ErrorObject[]) {
    // A union reports each branch's complaint and then itself; the branches say what is wrong.
    const field = { pointer: pointerOf(error, part), message: messageOf(error) }
    const key = `${field.pointer} ${field.message}`
    if (seen.has(key)) continue
    seen.add(key)
    found.push(field)
  }
  return found.slice(0, MOST_ERRORS)
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
