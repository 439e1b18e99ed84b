// Which operations of the API write, and so must be found in the audit log.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Operations that are not in the log, and why. */
const EXEMPT: Record<string, string> = {
  startSession: 'It hands the caller’s own token back as a cookie; nothing is written.',
  endSession: 'It clears that cookie; nothing is written.',
}

interface Document {
  paths: Record<string, Record<string, { operationId: string }>>
}

/** The names of all operations that must leave an entry. */
export function writingOperations(): string[] {
  const file = join(import.meta.dirname, '../../docs/openapi.json')
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  return Object.values(paths)
    .flatMap(methods => Object.entries(methods))
    .filter(([method]) => method !== 'get')
    .map(([, { operationId }]) => operationId)
    .filter(operation => !Object.hasOwn(EXEMPT, operation))
    .sort()
}
