// Secrets for a start without configuration: made once, kept in DATA_DIR, so that tokens and cookies survive a
// restart. Never used in production.
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DevelopmentSecrets {
  JWT_SECRET: string
  SECRET_KEY: string
  SESSION_SIGNING_SALT: string
}

export function developmentSecrets(dataDir: string): DevelopmentSecrets {
  const file = join(dataDir, 'development-secrets.json')
  return read(file) ?? create(dataDir, file)
}

function read(file: string): DevelopmentSecrets | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(
      `${file} cannot be read (${(error as Error).message}); delete it to have new secrets made`,
    )
  }
}

function create(dataDir: string, file: string): DevelopmentSecrets {
  const secret = () => randomBytes(48).toString('base64url')
  const secrets = { JWT_SECRET: secret(), SECRET_KEY: secret(), SESSION_SIGNING_SALT: secret() }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Written whole, then linked into place: of two processes starting together one wins, the other reads it.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
    return secrets
  } catch {
    return read(file) ?? secrets
  } finally {
    rmSync(draft, { force: true })
  }
}
