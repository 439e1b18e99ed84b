// A kept file's bytes, compared with its hash while they pass. What is wrong with it before the first of them leaves is an
// ordinary problem; later, it breaks the reading off. Either way the log says so: somebody's invoice may be lost.
import { StorageError, verified } from '../../integrations/storage/index.ts'
import { AppError, notFound } from '../../kernel/errors.ts'
import { type KeptFile, markLost } from './file-repository.ts'
import { openBackend } from './open-backend.ts'
import { findBackend } from './repository.ts'
import type { StorageKernel } from './storage-kernel.ts'

export async function* readFile(kernel: StorageKernel, file: KeptFile): AsyncGenerator<Uint8Array> {
  const backend = await findBackend(kernel.db, file.backend_id)
  if (!backend) throw notFound()
  try {
    yield* verified(await openBackend(kernel, backend).get(file.key), file)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    const { backend: name, key, sha256 } = file
    if (error.fault !== 'failed') await markLost(kernel.db, file.id, kernel.clock.now().toISOString())
    kernel.log.error({ err: error, backend: name, key, sha256 }, 'a kept file cannot be read back')
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
