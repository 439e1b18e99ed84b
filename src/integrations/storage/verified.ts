// Bytes on their way, compared with what they should be. The last piece is held back until the comparison is made: whoever
// gets to the end has the right bytes, and of wrong ones never gets them all.
import { createHash } from 'node:crypto'
import { failureCode } from '../../kernel/errors.ts'
import { StorageError } from './errors.ts'

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
