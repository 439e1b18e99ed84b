// The token that a service with generated secrets leaves in its data folder, for the command line beside it: whoever can
// read it can read those secrets too. Never in production.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const fileIn = (dataDir: string): string => join(dataDir, 'development-token')

export function leaveToken(dataDir: string, token: string): void {
  const file = fileIn(dataDir)
  writeFileSync(`${file}.part`, `${token}\n`, { mode: 0o600 })
  renameSync(`${file}.part`, file)
}

/** One that was left under other secrets would only be refused. */
export const removeToken = (dataDir: string): void => rmSync(fileIn(dataDir), { force: true })

export function leftToken(dataDir: string): string | undefined {
  try {
    return readFileSync(fileIn(dataDir), 'utf8').trim()
  } catch {
    return undefined
  }
}
