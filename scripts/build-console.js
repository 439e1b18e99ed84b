// Builds the console into console/dist, after an install too (`prepare`). Without development dependencies there is
// nothing to build it with: then the service runs without a console. Plain JavaScript: an install may run on any Node.
import { join } from 'node:path'

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../console')
const vite = await import('vite').catch(error => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
})
if (vite) await vite.build({ root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })
