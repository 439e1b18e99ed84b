// What a place where files are kept can do, whichever kind it is; its errors, in words an operator can act on; and the
// comparison of a file's bytes with what they should be. No error holds a key: texts from outside are cut before they get in.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { failureCode } from '../../kernel/errors.ts'
import { UpstreamError } from '../../kernel/http-client.ts'

export interface FileToPut {
  bytes: number
  sha256: string
  /** From the start, as often as it is asked for. */
  open(): Readable
}

export interface StoreOptions {
  signal?: AbortSignal
}

/** Keys are paths of our own making: segments of letters, digits, `.`, `_` and `-`. All fail with a StorageError. */
export interface ObjectStore {
  /** Whole or not at all; a file that is there under the same key is replaced. */
  put(key: string, file: FileToPut, options?: StoreOptions): Promise<void>
  /** Whether there is a file of this length under the key. */
  has(key: string, bytes: number, options?: StoreOptions): Promise<boolean>
  /** The file's bytes, as they are there. */
  get(key: string, options?: StoreOptions): Promise<Readable>
  /** What is not there is removed already. */
  remove(key: string, options?: StoreOptions): Promise<void>
}

/**
 * missing: the place answers, and has no such file. changed: it has one, but not the one that was put there.
 * unreachable: nothing answers there that is such a place. failed: anything else, from a full disk to a refused key.
 */
export type StorageFault = 'missing' | 'changed' | 'unreachable' | 'failed'

/**
 * All that users learn of an endpoint where no such service answers. Whether the port is closed, silent or somebody else's is
 * for the log alone: whoever may name an endpoint must not look around in our network with it.
 */
export const UNREACHABLE = 'no S3-compatible service answers at its endpoint'

export class StorageError extends UpstreamError {
  override readonly name = 'StorageError'
  readonly fault: StorageFault
  /** What the network said, for the log. */
  readonly reason: string | undefined

  constructor(message: string, fault: StorageFault = 'failed', reason?: string) {
    super(message)
    this.fault = fault
    this.reason = reason
  }
}

/** False instead of the error that says that the file is not there. */
export async function orMissing(found: Promise<boolean>): Promise<boolean> {
  try {
    return await found
  } catch (error) {
    if (error instanceof StorageError && error.fault === 'missing') return false
    throw error
  }
}

/**
 * Bytes on their way, compared with what they should be. The last piece is held back until the comparison is made: whoever
 * gets to the end has the right bytes, and of wrong ones never gets them all.
 */
export async function* verified(
  pieces: AsyncIterable<Uint8Array>,
  expected: { bytes: number; sha256: string },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let bytes = 0
  let held: Uint8Array | undefined
  for await (const piece of inOurWords(pieces)) {
    bytes += piece.byteLength
    if (bytes > expected.bytes) throw changed(`it is longer than ${expected.bytes} bytes`)
    hash.update(piece)
    if (held) yield held
    held = piece
  }
  if (bytes < expected.bytes) throw changed(`it ends after ${bytes} of ${expected.bytes} bytes`)
  if (hash.digest('hex') !== expected.sha256) throw changed('its SHA-256 is another one')
  if (held) yield held
}

async function* inOurWords(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    throw new StorageError(`the file breaks off (${failureCode(error)})`)
  }
}

const changed = (how: string) => new StorageError(`the file is not the one that was kept: ${how}`, 'changed')
