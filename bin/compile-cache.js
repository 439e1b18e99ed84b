// Stripping types and compiling is a large part of a start: what it gives is kept. Runs on Node 20, which has no such cache.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

/** Beside the packages, where `npm ci` has filled it, or else in the system's temporary folder. */
export function enableCompileCache() {
  const folder = fileURLToPath(new URL('../node_modules/.cache/cloudops/compiled', import.meta.url))
  const { status } = module.enableCompileCache?.(folder) ?? {}
  if (status === module.constants?.compileCacheStatus.FAILED) module.enableCompileCache?.()
}
