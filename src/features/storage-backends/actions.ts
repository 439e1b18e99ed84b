// Creating, changing, activating and deleting storage backends. Nothing is kept in one before it is activated.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import {
  DEFAULT_PATH_STYLE,
  type Settings,
  type StorageBackendRow,
  settingsProblems,
} from './storage-backend.ts'
import {
  insertBackend,
  lockAllBackends,
  lockBackend,
  removeBackend,
  setActive,
  updateBackend,
} from './store.ts'

export async function createBackend(
  deps: Deps,
  { name, ...settings }: Settings & { name: string },
  by: string,
): Promise<string> {
  refuseBadSettings(deps, settings)
  const id = newId()
  const now = deps.clock.now().toISOString()
  const { kind, folder = null, endpoint = null, bucket = null, region = null, prefix = null } = settings
  const { access_key_id = null, secret_access_key: key, path_style = DEFAULT_PATH_STYLE } = settings
  await refuseTakenName(() =>
    insertBackend(deps.db, {
      ...{ id, name, kind, folder, endpoint, bucket, region, prefix, access_key_id },
      path_style: kind === 's3' ? path_style : null,
      secret_access_key: key === undefined ? null : deps.storageEncryption.encrypt(key, id),
      active: false,
      created_at: now,
      created_by: by,
      updated_at: now,
    }),
  )
  return id
}

type Changeable = 'endpoint' | 'region' | 'path_style' | 'access_key_id' | 'secret_access_key'
export type BackendChanges = Pick<Settings, Changeable> & { name?: string }

/**
 * Another name, another way to the same files, another key to them. Where the files are cannot change: those that are kept
 * would be lost, and one that is being kept would be recorded where it is not.
 */
export function changeBackend(deps: Deps, id: string, { name, ...changes }: BackendChanges): Promise<void> {
  return refuseTakenName(() =>
    transaction(deps.db, async tx => {
      const row = await lockBackend(tx, id)
      if (!row) throw notFound()
      refuseBadSettings(deps, { ...settingsOf(row), ...changes })
      if (changes.access_key_id !== undefined && changes.secret_access_key === undefined) {
        const message = 'is required with a new access_key_id'
        throw invalid('The body is not acceptable.', [{ pointer: '/secret_access_key', message }])
      }
      const { secret_access_key: key, ...others } = changes
      await updateBackend(tx, id, {
        ...others,
        ...(name !== undefined && { name }),
        ...(key !== undefined && { secret_access_key: deps.storageEncryption.encrypt(key, id) }),
        updated_at: deps.clock.now().toISOString(),
      })
    }),
  )
}

/** As they would have to be said to make the row; the encrypted key stands for the key. */
function settingsOf(row: StorageBackendRow): Settings {
  const { kind, folder, endpoint, bucket, region, prefix, path_style, access_key_id, secret_access_key } = row
  const all = { folder, endpoint, bucket, region, prefix, path_style, access_key_id, secret_access_key }
  const set = Object.entries(all).filter(([, value]) => value !== null)
  return { kind, ...Object.fromEntries(set) }
}

function refuseBadSettings({ storage }: Deps, settings: Settings): void {
  const problems = settingsProblems(settings, storage.endpointProblem)
  if (problems.length > 0) throw invalid('The body is not acceptable.', problems)
}

async function refuseTakenName(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (violatedConstraint(error) !== 'storage_backends_name') throw error
    throw conflict('name_taken', 'Another storage backend has this name.', { cause: error })
  }
}

/** Files that are kept elsewhere stay there. Of two that are activated at once the later one stands. */
export function activateBackend({ db, clock }: Deps, id: string): Promise<void> {
  return transaction(db, async tx => {
    await lockAllBackends(tx)
    if (!(await setActive(tx, id, clock.now().toISOString()))) throw notFound()
  })
}

/** Nothing is kept any more until another is activated. */
export function deactivateBackend({ db, clock }: Deps, id: string): Promise<void> {
  return transaction(db, async tx => {
    const backend = await lockBackend(tx, id)
    if (!backend) throw notFound()
    if (backend.active) await updateBackend(tx, id, { active: false, updated_at: clock.now().toISOString() })
  })
}

/** One that holds files is refused by the database: a file that is recorded at the same moment keeps it. */
export async function deleteBackend({ db }: Deps, id: string): Promise<void> {
  let found: boolean
  try {
    found = await removeBackend(db, id)
  } catch (error) {
    if (violatedConstraint(error) !== 'invoice_files_backend') throw error
    throw conflict('backend_in_use', 'This storage backend holds files.', { cause: error })
  }
  if (!found) throw notFound()
}
