// Builds the console to files for any static host, each also compressed, and serves it while it is worked on.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const dist = join(import.meta.dirname, 'dist')

const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  closeBundle() {
    for (const file of readdirSync(join(dist, 'assets'))) {
      const path = join(dist, 'assets', file)
      if (!file.endsWith('.gz')) writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
    }
  },
}

/** The development server is another origin than the API, as a static host would be. */
const apiAddress: Plugin = {
  name: 'api-address',
  apply: 'serve',
  transformIndexHtml: html =>
    html.replace(
      'name="cloudops-api" content=""',
      `name="cloudops-api" content="${process.env.CLOUDOPS_URL ?? `http://localhost:${process.env.PORT ?? 4005}`}"`,
    ),
}

export default defineConfig({
  plugins: [compress, apiAddress],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // The origin that the API allows, exactly.
  server: { host: 'localhost', port: 5173, strictPort: true },
  // Nothing inlined: the page's policy allows no data: addresses.
  build: {
    outDir: dist,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
