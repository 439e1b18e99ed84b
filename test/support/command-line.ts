// The real command line against the service of a test's bundle, from a folder of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { launcher } from './process.ts'
import { type Bundle, testEnvironment } from './setup.ts'

export interface Ended {
  code: number | null
  out: string
  err: string
}

/** Of one command; its standard input, and variables of the environment, are given with each run. */
export async function commandLine(t: TestContext, { url, tokens }: Bundle, command: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cloudops-command-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const own = { PATH: process.env.PATH, CLOUDOPS_URL: url, CLOUDOPS_TOKEN: await tokens.admin() }
  const run = (args: string[], { input = '', ...env }: Record<string, string> = {}) =>
    new Promise<Ended>((resolve, reject) => {
      const child = spawn(process.execPath, [launcher, command, ...args], {
        cwd: folder,
        env: { ...testEnvironment, ...own, ...env },
      })
      const ended: Ended = { code: null, out: '', err: '' }
      child.stdout.on('data', chunk => {
        ended.out += chunk
      })
      child.stderr.on('data', chunk => {
        ended.err += chunk
      })
      child.on('error', reject)
      child.on('close', code => resolve({ ...ended, code }))
      child.stdin.end(input)
    })
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return name
  }
  return { run, write }
}
