// A kept file's bytes, compared with its hash while they pass. What is wrong with it before the first of them leaves is an
// ordinary problem; later, it breaks the reading off. Either way the log says so: somebody's invoice may be lost.
import type { Deps } from '../../deps.ts'
import { StorageError, verified } from '../../integrations/storage/index.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { type KeptFile, markLost } from './file-repository.ts'
import { openBackend } from './open-backend.ts'
import { findBackend } from './repository.ts'

export async function* readFile(deps: Deps, file: KeptFile): AsyncGenerator<Uint8Array> {
  const backend = await findBackend(deps.db, file.backend_id)
  if (!backend) throw notFound()
  try {
    yield* verified(await openBackend(deps, backend).get(file.key), file)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    const { backend: name, key, sha256 } = file
    if (error.fault !== 'failed') await markLost(deps.db, file.id, deps.clock.now().toISOString())
    deps.log.error({ err: error, backend: name, key, sha256 }, 'a kept file cannot be read back')
    throw new AppError(
      'unavailable',
      'file_unavailable',
      `“${name}” does not give the file: ${error.message}.`,
      {
        cause: error,
      },
    )
  }
}
