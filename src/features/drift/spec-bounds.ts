// What a spec may name, and how large it may be. Any other name is good for a field, for attributes are the provider's; a
// spec is read every hour, so it is kept small.
import type { FieldError } from '../../kernel/errors.ts'
import { refusedField } from './live-value.ts'

export const MOST_FIELDS = 100
export const LONGEST_FIELD = 255
const DEEPEST = 8
const LARGEST_BYTES = 64 * 1024

/** What is wrong with a spec, if anything. */
export function specErrors(spec: Record<string, unknown>): FieldError[] {
  const errors = Object.entries(spec).flatMap(([field, value]) => {
    const pointer = `/spec/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const refused = refusedField(field)
    if (refused) return [{ pointer, message: refused }]
    if (depthOf(value) <= DEEPEST) return []
    return [{ pointer, message: `must not be nested more than ${DEEPEST} levels deep` }]
  })
  if (errors.length > 0) return errors
  return Buffer.byteLength(JSON.stringify(spec)) > LARGEST_BYTES
    ? [{ pointer: '/spec', message: `must not be larger than ${LARGEST_BYTES / 1024} KB` }]
    : []
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0)
}
