// Which operations of the API write, and so must be found in the audit log.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

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
    .sort()
}
