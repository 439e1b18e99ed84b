// What can go wrong with a call to the provider, in words a caller can act on.
// Nothing here ever holds the token: texts from outside are scrubbed and cut before they get in.

/**
 * answer: the provider said no. network, timeout: no answer. malformed: an answer that is not one.
 * redirect: an answer that wanted the token elsewhere. deadline: our own time ran out. busy: wait first.
 */
export type FaultKind = 'answer' | 'network' | 'timeout' | 'malformed' | 'redirect' | 'deadline' | 'busy'

export interface FaultDetails {
  kind: FaultKind
  /** The HTTP status, when there was one. */
  status?: number | null
  /** The provider's `id`: the status in words, such as `not_found`. */
  code?: string | null
  providerMessage?: string | null
  requestId?: string | null
  /** True when a write may have taken effect although no good answer came. */
  mayHaveHappened?: boolean
}

export class ProviderError extends Error {
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

const longestText = 300
const tokenShaped = /\bdo[por]_v1_[0-9a-z]+/gi

/** Text from outside, made fit for an error or a log: one line, bounded, without anything like a token. */
export function fitForDisplay(text: string, token: string): string {
  const scrubbed = text.replaceAll(token, '[token]').replace(tokenShaped, '[token]')
  // Control characters would let an answer forge log lines.
  const line = scrubbed.replace(/\p{Cc}+/gu, ' ').trim()
  return line.length > longestText ? `${line.slice(0, longestText)}…` : line
}
