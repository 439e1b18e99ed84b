// `npm ci` runs it: what the first start would have to do is done once, here. Without it a start only takes longer, so it
// never fails an install.
import { enableCompileCache } from '../bin/compile-cache.js'

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
