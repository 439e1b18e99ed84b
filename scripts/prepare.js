// `npm ci` runs it: builds the console and, beside it, does once what the first start would have to do. Without the latter a
// start only takes longer, so that never fails an install. Plain JavaScript: an install may run on any Node.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { enableCompileCache } from '../bin/compile-cache.js'

const builder = fileURLToPath(new URL('build-console.js', import.meta.url))
const built = once(spawn(process.execPath, [builder], { stdio: 'inherit' }), 'close')

enableCompileCache()
try {
  // Everything that a start loads, so that it is compiled.
  const modules = ['src/cli/serve.ts', 'src/serve.ts', 'sandbox/main.ts']
  await Promise.all([...modules.map(file => import(`../${file}`)), import('@scalar/fastify-api-reference')])
  const { prepareDatabase } = await import('./prepare-database.ts')
  await prepareDatabase()
} catch (error) {
  process.stderr.write(`Not prepared, so the first start takes longer: ${error.message}\n`)
}

const [code] = await built
process.exitCode = code ?? 1
