// How large a spec may be. Any name is good for a field; a spec is read every hour, so it is kept small.
import type { FieldError } from '../../kernel/errors.ts'

export const MOST_FIELDS = 100
export const LONGEST_FIELD = 255
const DEEPEST = 8
const LARGEST_BYTES = 64 * 1024

/** What is wrong with a spec, if anything. */
export function specErrors(spec: Record<string, unknown>): FieldError[] {
  const tooDeep = Object.entries(spec)
    .filter(([, value]) => depthOf(value) > DEEPEST)
    .map(([field]) => ({
      pointer: `/spec/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      message: `must not be nested more than ${DEEPEST} levels deep`,
    }))
  if (tooDeep.length > 0) return tooDeep
  return Buffer.byteLength(JSON.stringify(spec)) > LARGEST_BYTES
    ? [{ pointer: '/spec', message: `must not be larger than ${LARGEST_BYTES / 1024} KB` }]
    : []
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0)
}
