#!/usr/bin/env -S node --max-semi-space-size=16
// The launcher. The service is TypeScript run as it stands, which needs Node 24; a host with an older
// Node still has one, installed by the `node` package. This file must therefore run on Node 20.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { enableCompileCache } from './compile-cache.js'

const main = new URL('../src/main.ts', import.meta.url)
// Also in the first line and in package.json: without it the young generation alone grows past 130 MB in a sweep.
const flags = ['--max-semi-space-size=16']

if (Number(process.versions.node.split('.')[0]) >= 24) {
  enableCompileCache()
  await import(main.href)
} else {
  const require = createRequire(import.meta.url)
  let node
  try {
    node = fileURLToPath(new URL('bin/node', `file://${require.resolve('node/package.json')}`))
  } catch {
    process.stderr.write(
      'cloudops needs Node 24: run `npm ci` first, which installs it beside the service.\n',
    )
    process.exit(1)
  }
  const child = spawn(node, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  child.on('error', error => {
    process.stderr.write(`cloudops could not start ${node}: ${error.message}\n`)
    process.exit(1)
  })
  // The terminal sends Ctrl-C to the whole group, a supervisor sends SIGTERM to this process alone.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  process.on('SIGINT', () => {})
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    } else process.exit(code ?? 1)
  })
}
