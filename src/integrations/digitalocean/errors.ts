// What can go wrong with a call to the provider, in words a caller can act on.
// Nothing here ever holds the token: texts from outside are scrubbed and cut before they get in.
import { UpstreamError } from '../../kernel/http-client.ts'

/**
 * response: the provider said no. network, timeout: no response. malformed: a response that is not one.
 * redirect: a response that wanted the token elsewhere. deadline: our own time ran out. busy: wait first.
 */
export type FaultKind = 'response' | 'network' | 'timeout' | 'malformed' | 'redirect' | 'deadline' | 'busy'

export interface FaultDetails {
  kind: FaultKind
  /** The HTTP status, when there was one. */
  status?: number | null
  /** The provider's `id`: the status in words, such as `not_found`. */
  code?: string | null
  providerMessage?: string | null
  requestId?: string | null
  /** True when a write may have taken effect although no good response came. */
  mayHaveHappened?: boolean
}

export class ProviderError extends UpstreamError {
  override readonly name: string = 'ProviderError'
  readonly kind: FaultKind
  readonly status: number | null
  readonly code: string | null
  readonly providerMessage: string | null
  readonly requestId: string | null
  readonly mayHaveHappened: boolean

  constructor(message: string, details: FaultDetails) {
    super(message)
    this.kind = details.kind
    this.status = details.status ?? null
    this.code = details.code ?? null
    this.providerMessage = details.providerMessage ?? null
    this.requestId = details.requestId ?? null
    this.mayHaveHappened = details.mayHaveHappened ?? false
  }
}

/** The rate limit asks for a longer wait than a job should hold: reschedule it after `retryAfterMs`. */
export class ProviderBusyError extends ProviderError {
  override readonly name: string = 'ProviderBusyError'
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs: number, details: Omit<FaultDetails, 'kind'> = {}) {
    super(message, { ...details, kind: 'busy' })
    this.retryAfterMs = retryAfterMs
  }
}

const PASSING = new Set([429, 500, 502, 503, 504])

/** Worth another attempt. */
export function isPassingStatus(status: number): boolean {
  return PASSING.has(status)
}

/** No response, half of one, or one that will be another soon. */
export function passes({ kind, status }: ProviderError): boolean {
  if (kind === 'redirect') return false
  return kind !== 'response' || isPassingStatus(status ?? 0)
}

/** Null instead of the error that says that there is no such thing. */
export async function nullIfNotFound<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof ProviderError && error.status === 404) return null
    throw error
  }
}
