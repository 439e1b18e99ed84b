// What can go wrong with a place where files are kept, in words an operator can act on. Never with a key in it: texts from
// outside are cut before they get in.

/**
 * missing: the place answers, and has no such file. changed: it has one, but not the one that was put there.
 * unreachable: nothing answers there that is such a place. failed: anything else, from a full disk to a refused key.
 */
export type StorageFault = 'missing' | 'changed' | 'unreachable' | 'failed'

/**
 * All that is told of an endpoint where no such service answers. Whether the port is closed, silent or somebody else's is
 * for the log alone: whoever may name an endpoint must not look around in our network with it.
 */
export const UNREACHABLE = 'no S3-compatible service answers at its endpoint'

export class StorageError extends Error {
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

const LONGEST_TEXT = 300

/** Text from outside, made fit for an error or a log: one line, bounded, without the secret should it be repeated. */
export function fitForDisplay(text: string, secret: string): string {
  // Control characters would let an answer forge log lines.
  const line = text
    .replaceAll(secret, '[secret]')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line
}
