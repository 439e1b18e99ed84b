// A new place for raw invoices. Nothing is kept there before it is activated.
import type { Static } from 'typebox'
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { insertBackend } from './repository.ts'
import type { CreateBody } from './schemas.ts'
import { DEFAULT_PATH_STYLE, type Settings, settingsProblems } from './settings.ts'

export async function createBackend(
  deps: Deps,
  body: Static<typeof CreateBody>,
  by: string,
): Promise<string> {
  const { name, ...settings } = body
  refuseBadSettings(deps, settings)
  const id = newId()
  const now = deps.clock.now().toISOString()
  const { kind, folder = null, endpoint = null, bucket = null, region = null, prefix = null } = settings
  const { access_key_id = null, secret_access_key: key, path_style = DEFAULT_PATH_STYLE } = settings
  await refuseTakenName(() =>
    transaction(deps.db, tx =>
      insertBackend(tx, {
        ...{ id, name, kind, folder, endpoint, bucket, region, prefix, access_key_id },
        path_style: kind === 's3' ? path_style : null,
        secret_access_key: key === undefined ? null : deps.storageEncryption.encrypt(key, id),
        active: false,
        created_at: now,
        created_by: by,
        updated_at: now,
      }),
    ),
  )
  return id
}

export function refuseBadSettings({ storage }: Deps, settings: Settings): void {
  const problems = settingsProblems(settings, storage.endpointProblem)
  if (problems.length > 0) throw invalid('The body is not acceptable.', problems)
}

export async function refuseTakenName(write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (violatedConstraint(error) !== 'storage_backends_name') throw error
    throw conflict('name_taken', 'Another storage backend has this name.', { cause: error })
  }
}
