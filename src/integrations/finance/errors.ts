// What can go wrong with a push, in words a caller can act on. Nothing here ever holds a token: texts from outside are
// scrubbed and cut before they get in.

/**
 * refused: finance will not take this invoice as it is, however often it is sent. Everything else may pass with time:
 * unauthorized (the secret or the role is not what finance expects), conflict, unavailable (no answer, or one that asks
 * for patience), malformed (an answer that is not one; the invoice may have been taken).
 */
export type FinanceFault = 'refused' | 'unauthorized' | 'conflict' | 'unavailable' | 'malformed'

export class FinanceError extends Error {
  override readonly name: string = 'FinanceError'
  readonly fault: FinanceFault
  /** The HTTP status, when there was one. */
  readonly status: number | null

  constructor(message: string, fault: FinanceFault, status: number | null = null) {
    super(message)
    this.fault = fault
    this.status = status
  }
}

/** The invoice itself is at fault with these; with any other status it is the moment, the address or the secret. */
const REFUSALS = new Set([400, 413, 422])

export function faultOf(status: number): FinanceFault {
  if (REFUSALS.has(status)) return 'refused'
  if (status === 401 || status === 403) return 'unauthorized'
  return status === 409 ? 'conflict' : 'unavailable'
}

const LONGEST_TEXT = 300

/** Text from outside, made fit for an error or a log: one line, bounded, without the token should it be repeated. */
export function fitForDisplay(text: string, token: string): string {
  // Control characters would let an answer forge log lines.
  const line = text
    .replaceAll(token, '[token]')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line
}
