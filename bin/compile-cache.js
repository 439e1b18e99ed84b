// Stripping types and compiling is a large part of a start: what it gives is kept. Runs on Node 20, which has no such cache.
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

/**
 * How much a function of WebAssembly does before the optimizing compiler takes it: about a second's work, a hundred times V8's
 * own. The embedded database has thousands of them, and at a start their compiling is in the way of all else.
 */
const WASM_TIERING_BUDGET = 1_000_000_000

/** Beside the packages, where `npm ci` has filled it, or else in the system's temporary folder. */
export function enableCompileCache() {
  // Before the cache, which is one for each set of flags.
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`)
  const folder = fileURLToPath(new URL('../node_modules/.cache/cloudops/compiled', import.meta.url))
  const { status } = module.enableCompileCache?.(folder) ?? {}
  if (status === module.constants?.compileCacheStatus.FAILED) module.enableCompileCache?.()
}
