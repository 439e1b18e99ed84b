// Does a backend work, now? A small file is written, read back and removed. What fails is the answer, but of an address where
// no such service answers it says no more than that, and always after the same time.

import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { type ObjectStore, StorageError, UNREACHABLE, verified } from '../../integrations/storage/index.ts'
import { recordRequest } from '../../kernel/audit.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { openBackend } from './files.ts'
import { findBackend } from './store.ts'

/** A caller is waiting. */
const TIMEOUT_MS = 10_000

export interface CheckResult {
  ok: boolean
  error: string | null
}

export async function checkBackend(deps: Deps, id: string, timeoutMs = TIMEOUT_MS): Promise<CheckResult> {
  const backend = await findBackend(deps.db, id)
  if (!backend) throw notFound()
  const act = { subjectType: 'storage_backends', subjectId: id }
  await transaction(deps.db, tx => recordRequest(tx, act))
  const signal = AbortSignal.timeout(timeoutMs)
  const enough = pause(timeoutMs, undefined, { ref: false })
  let doing = 'it cannot be used'
  let answered = false
  try {
    const store = openBackend(deps, backend)
    for (const [what, run] of steps(store, signal)) {
      doing = what
      await run()
      answered = true
    }
    return { ok: true, error: null }
  } catch (error) {
    const reached = answered || (error instanceof StorageError && error.fault !== 'unreachable')
    if (!reached && backend.kind === 's3' && (signal.aborted || error instanceof StorageError)) {
      const reason = error instanceof StorageError ? error.reason : `no answer within ${timeoutMs} ms`
      deps.log.warn({ backend_id: id, reason }, 'a storage backend cannot be reached')
      // A closed port answers at once and a silent one never: the time must not tell them apart.
      await enough
      return { ok: false, error: `${doing}: ${UNREACHABLE}` }
    }
    if (signal.aborted) return { ok: false, error: `${doing}: it took longer than ${timeoutMs} ms` }
    if (error instanceof StorageError) return { ok: false, error: `${doing}: ${error.message}` }
    throw error
  }
}

function steps(store: ObjectStore, signal: AbortSignal): [string, () => Promise<void>][] {
  const key = `check/${newId()}.txt`
  const content = randomBytes(32)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = { bytes: content.length, sha256, open: () => Readable.from([content]) }
  return [
    ['a file could not be written', () => store.put(key, file, { signal })],
    [
      'the file could not be read back',
      async () => {
        for await (const _ of verified(await store.get(key, { signal }), file));
      },
    ],
    ['the file could not be removed', () => store.remove(key, { signal })],
  ]
}
