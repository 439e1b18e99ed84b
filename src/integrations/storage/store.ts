// What a place where files are kept can do, whichever kind it is.
import type { Readable } from 'node:stream'

export interface FileToPut {
  bytes: number
  sha256: string
  /** From the start, as often as it is asked for. */
  open(): Readable
}

export interface Asked {
  signal?: AbortSignal
}

/** Keys are paths of our own making: segments of letters, digits, `.`, `_` and `-`. All fail with a StorageError. */
export interface Store {
  /** Whole or not at all; a file that is there under the same key is replaced. */
  put(key: string, file: FileToPut, asked?: Asked): Promise<void>
  /** Whether there is a file of this length under the key. */
  has(key: string, bytes: number, asked?: Asked): Promise<boolean>
  /** The file's bytes, as they are there. */
  get(key: string, asked?: Asked): Promise<Readable>
  /** What is not there is removed already. */
  remove(key: string, asked?: Asked): Promise<void>
}
