// Opens places where files are kept. Local ones are all below one folder of their own in DATA_DIR: whoever names a folder
// over the API can neither leave it nor touch what else is there.
import { join } from 'node:path'
import { Agent } from 'undici'
import { isLinkLocalAddress, type Resolve, vettedLookup } from '../../kernel/addresses.ts'
import type { Clock } from '../../kernel/time.ts'
import { type Bucket, endpointProblem } from './endpoint.ts'
import { StorageError } from './errors.ts'
import { localStore } from './local-store.ts'
import { type S3Limits, s3Store } from './s3-store.ts'
import type { Credentials } from './signature.ts'
import type { Store } from './store.ts'

export type Place = { kind: 'local'; folder: string } | ({ kind: 's3' } & Bucket & Credentials)

export interface Storage {
  /** Makes no call; whether the place is there, the first use tells. */
  open(place: Place): Store
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
const CONNECT_MS = 10_000
const LOCAL_ROOT = 'storage'

export function createStorage({ dataDir, production, clock, ...options }: StorageOptions): Storage {
  const limits = { ...defaultLimits, ...options.limits }
  const { silenceMs } = limits
  const dispatcher = new Agent({
    connections: 4,
    connect: {
      timeout: Math.min(CONNECT_MS, silenceMs),
      lookup: vettedLookup(address => !isLinkLocalAddress(address), options.resolve),
    },
    // Counted anew with every piece of the body that is sent.
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
  const problem = (endpoint: string, pathStyle: boolean) =>
    endpointProblem(endpoint, { pathStyle, production })

  return {
    open(place) {
      if (place.kind === 'local') return localStore(join(dataDir, LOCAL_ROOT, place.folder))
      // It may have been stored by a process that allowed more.
      const wrong = problem(place.endpoint, place.pathStyle)
      if (wrong) throw new StorageError(`its endpoint ${wrong}`)
      return s3Store(place, { dispatcher, clock, limits })
    },
    endpointProblem: problem,
    // Not `close`, which waits for answers: jobs in flight have had their grace.
    close: () => dispatcher.destroy(),
  }
}
