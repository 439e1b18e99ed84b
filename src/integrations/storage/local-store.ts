// A folder of this machine. A file is written beside its place, compared with its hash, flushed to the disk and only then
// moved there: what bears a key is whole, whenever the process or the machine dies.
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { failureCode } from '../../kernel/errors.ts'
import {
  type FileToPut,
  type ObjectStore,
  orMissing,
  StorageError,
  type StoreOptions,
  verified,
} from './object-store.ts'

export function localStore(folder: string): ObjectStore {
  const root = resolve(folder)

  function pathOf(key: string): string {
    const path = resolve(root, key)
    if (!path.startsWith(root + sep)) throw new StorageError('the key leads out of the backend’s folder')
    return path
  }

  return {
    put: (key, file, options) => inWords(() => write(pathOf(key), file, options)),
    has: (key, bytes) => orMissing(inWords(async () => (await stat(pathOf(key))).size === bytes)),
    get: key =>
      inWords(async () => {
        // Opened here, so that a file that is not there is found out now and not while it is read.
        return (await open(pathOf(key))).createReadStream()
      }),
    remove: key => inWords(() => rm(pathOf(key), { force: true })),
  }
}

async function write(path: string, file: FileToPut, { signal }: StoreOptions = {}): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const beside = `${path}.${randomUUID()}.part`
  try {
    const bytes = (pieces: AsyncIterable<Uint8Array>) => verified(pieces, file)
    await pipeline(file.open(), bytes, createWriteStream(beside, { mode: 0o600, flush: true }), { signal })
    await rename(beside, path)
    await flush(dirname(path))
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

/** A name that was given is lost with the power, too, until its folder is on the disk. */
async function flush(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

const WORDS: Record<string, string> = {
  EACCES: 'this process may not use the folder',
  EDQUOT: 'the disk’s quota is used up',
  EEXIST: 'a file is where the folder should be',
  EIO: 'the disk cannot be read or written',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file is where the folder should be',
  EPERM: 'this process may not use the folder',
  EROFS: 'the disk can only be read',
}

/** The system's own words name paths of the host. */
async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = failureCode(error)
    if (code === 'ENOENT') throw new StorageError('the file is not there', 'missing')
    if (WORDS[code]) throw new StorageError(`${WORDS[code]} (${code})`)
    throw error
  }
}
