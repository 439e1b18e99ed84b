// Opens places where files are kept. Local ones are all below one folder of their own in DATA_DIR: whoever names a folder
// over the API can neither leave it nor touch what else is there.
import { join } from 'node:path'
import { isLinkLocalAddress, type Resolve, vettedLookup } from '../../kernel/addresses.ts'
import { createAgent } from '../../kernel/http-client.ts'
import type { Clock } from '../../kernel/time.ts'
import { localStore } from './local-store.ts'
import { type ObjectStore, StorageError } from './object-store.ts'
import { type Bucket, type Credentials, endpointProblem, type S3Limits, s3Store } from './s3-store.ts'

export type StorageLocation = { kind: 'local'; folder: string } | ({ kind: 's3' } & Bucket & Credentials)

export interface Storage {
  /** Makes no call; the first use shows whether the place is there. */
  open(location: StorageLocation): ObjectStore
  /** What is wrong with an address for this process; undefined when nothing is. */
  endpointProblem(endpoint: string, pathStyle: boolean): string | undefined
  close(): Promise<void>
}

export interface StorageOptions {
  dataDir: string
  production: boolean
  clock: Clock
  limits?: Partial<S3Limits>
  /** Another way to resolve names, for tests. */
  resolve?: Resolve
}

const defaultLimits: S3Limits = { silenceMs: 30_000, requestMs: 1_800_000, attempts: 3, backoffMs: 500 }
const LOCAL_ROOT = 'storage'

export function createStorage({ dataDir, production, clock, ...options }: StorageOptions): Storage {
  const limits = { ...defaultLimits, ...options.limits }
  const dispatcher = createAgent({
    connections: 4,
    silenceMs: limits.silenceMs,
    lookup: vettedLookup(address => !isLinkLocalAddress(address), options.resolve),
  })
  const problem = (endpoint: string, pathStyle: boolean) =>
    endpointProblem(endpoint, { pathStyle, production })

  return {
    open(location) {
      if (location.kind === 'local') return localStore(join(dataDir, LOCAL_ROOT, location.folder))
      // It may have been stored by a process that allowed more.
      const wrong = problem(location.endpoint, location.pathStyle)
      if (wrong) throw new StorageError(`its endpoint ${wrong}`)
      return s3Store(location, { dispatcher, clock, limits })
    },
    endpointProblem: problem,
    // Not `close`, which waits for responses: jobs in flight have had their grace.
    close: () => dispatcher.destroy(),
  }
}
