// The ports of a process, taken before anything else is loaded, made or opened: whoever cannot have them, or the folder of
// the embedded database, hears it at once and leaves nothing behind.
import { type Config, ConfigError } from './config.ts'
import { refuseLockedFolder } from './kernel/db/folder-lock.ts'
import { type HeldPort, holdPort } from './kernel/http/listener.ts'

export const MANAGEMENT_HOST = '127.0.0.1'

/** What a process does. */
export interface Parts {
  api: boolean
  worker: boolean
}

export interface HeldPorts {
  api: HeldPort | undefined
  management: HeldPort
}

export async function holdPorts(config: Config, parts: Parts): Promise<HeldPorts> {
  const { DATABASE_URL, DATA_DIR, HOST, PORT, MANAGEMENT_PORT } = config
  if (DATABASE_URL === undefined) refuseLockedFolder(DATA_DIR)
  if (parts.api && PORT > 0 && PORT === MANAGEMENT_PORT)
    throw new ConfigError([`MANAGEMENT_PORT is ${PORT}, as PORT is: each needs one of its own`])
  const api = parts.api ? await holdPort(HOST, PORT, 'PORT') : undefined
  try {
    return { api, management: await holdPort(MANAGEMENT_HOST, MANAGEMENT_PORT, 'MANAGEMENT_PORT') }
  } catch (error) {
    api?.release()
    throw error
  }
}

export function release({ api, management }: HeldPorts): void {
  api?.release()
  management.release()
}
