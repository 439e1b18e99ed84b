// The release before this one, as its commit has it, with the packages it was made with.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Owner, temporaryFolder } from './process.ts'

const root = join(import.meta.dirname, '../..')

/** To be moved on with each release. */
export const PREVIOUS_RELEASE = '7f1034837a92a6e3334edccfef1961c63fc07c25'

/** Why it cannot be had here; undefined when it can. */
export function previousReleaseMissing(): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS_RELEASE}^{commit}`], { cwd: root, stdio: 'ignore' })
    return undefined
  } catch {
    return `the history here does not reach back to ${PREVIOUS_RELEASE}`
  }
}

/** Its launcher; undefined when its packages cannot be had. */
export function unpackPreviousRelease(owner: Owner): string | undefined {
  const folder = join(temporaryFolder(owner), 'release')
  mkdirSync(folder)
  const archive = execFileSync('git', ['archive', PREVIOUS_RELEASE], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  try {
    // Its own, for this release may have dropped one. Mostly they are in npm's cache; no script is needed, Node is here.
    const args = ['ci', '--omit=dev', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', args, { cwd: folder, stdio: 'ignore', timeout: 120_000 })
  } catch {
    return undefined
  }
  return join(folder, 'bin/cloudops.js')
}
