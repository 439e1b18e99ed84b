// Copies checkpoints to the active storage backend, where the database's owner cannot change them, each under a name of its
// own that is never written twice. A copy that differs shows that the log was changed: then nothing more is published, and
// the service's log and every verification say so.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Deps } from '../../deps.ts'
import { type ObjectStore, StorageError } from '../../integrations/storage/index.ts'
import { openActive } from '../storage-backends/index.ts'
import type { Break } from './chain.ts'
import { type Checkpoint, type Document, documentIn, documentOf, fileOf, unlikeCopy } from './checkpoint.ts'
import { findCheckpoint, markPublished, newestCheckpoint, unpublishedCheckpoints } from './store.ts'

const AT_A_TIME = 100
const TIMEOUT_MS = 20_000
const LARGEST_FILE = 16_384
/** How many of the newest may not have been published yet when a verification looks for the last that was. */
const LOOKED_BACK = 100

export async function publishCheckpoints(deps: Deps): Promise<number> {
  const { db, clock, log } = deps
  const due = await unpublishedCheckpoints(db, AT_A_TIME)
  const active = due.length === 0 ? undefined : await openActive(deps)
  if (!active) return 0
  let published = 0
  for (const checkpoint of due) {
    try {
      const mismatch = await publish(deps, active.store, checkpoint)
      if (mismatch) {
        log.error(
          { ...mismatch, backend: active.name },
          'the audit log does not fit its published checkpoints',
        )
        break
      }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      log.warn({ err: error, backend: active.name }, 'a checkpoint of the audit log was not published')
      break
    }
    await markPublished(db, checkpoint.number, clock.now().toISOString())
    published++
  }
  return published
}

async function publish(
  { db, auditKeys }: Deps,
  store: ObjectStore,
  checkpoint: Checkpoint,
): Promise<Break | undefined> {
  const { number } = checkpoint
  const before = number === 1 ? undefined : await read(store, number - 1)
  const mismatch = before && unlikeCopy(before, await findCheckpoint(db, number - 1))
  if (mismatch) return mismatch
  const there = await read(store, number)
  if (there) return unlikeCopy(there, checkpoint)
  const content = Buffer.from(`${JSON.stringify(documentOf(checkpoint, auditKeys), null, 2)}\n`)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = { bytes: content.length, sha256, open: () => Readable.from([content]) }
  await store.put(fileOf(number), file, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  return undefined
}

/** A published checkpoint; undefined when there is none of that number. One that cannot be made out fits no other. */
async function read(store: ObjectStore, number: number): Promise<Document | undefined> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of await store.get(fileOf(number), { signal: AbortSignal.timeout(TIMEOUT_MS) })) {
      bytes += piece.length
      if (bytes > LARGEST_FILE) break
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof StorageError && error.fault === 'missing') return undefined
    throw error
  }
  return documentIn(Buffer.concat(pieces).toString('utf8')) ?? UNREADABLE(number)
}

const UNREADABLE = (number: number): Document => ({
  ...{ number, seq: 0, entries: 0, hash: '', at: '', unkeyed: 0, previous: '', key_id: '', signature: '' },
  public_key: null,
})

export interface Published {
  /** The backend's name. */
  backend: string
  /** The newest checkpoint that is there and fits; null when none is. */
  checkpoint: number | null
  /** Why the backend could not be asked. */
  error: string | null
}

/** Compares what stands here with what is at the active backend; null when there is none. */
export async function comparePublished(deps: Deps): Promise<{ published: Published | null; broken?: Break }> {
  const active = await openActive(deps)
  if (!active) return { published: null }
  const published = { backend: active.name, checkpoint: null, error: null }
  try {
    const { checkpoint, broken } = await newestFitting(deps, active.store)
    return { published: { ...published, checkpoint }, ...(broken && { broken }) }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return { published: { ...published, error: error.message } }
  }
}

async function newestFitting(
  { db }: Deps,
  store: ObjectStore,
): Promise<{ checkpoint: number | null; broken?: Break }> {
  const newest = (await newestCheckpoint(db))?.number ?? 0
  const beyond = await read(store, newest + 1)
  // Another node may have made it since.
  const mismatch = beyond && unlikeCopy(beyond, await findCheckpoint(db, newest + 1))
  if (mismatch) return { checkpoint: null, broken: mismatch }
  for (let number = newest; number > Math.max(0, newest - LOOKED_BACK); number--) {
    const there = await read(store, number)
    if (!there) continue
    const broken = unlikeCopy(there, await findCheckpoint(db, number))
    return broken ? { checkpoint: null, broken } : { checkpoint: number }
  }
  return { checkpoint: null }
}
