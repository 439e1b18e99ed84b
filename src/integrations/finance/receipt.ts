// Reading finance's response to a push: which invoice it became, and whether it was new there; or what can go wrong, in words
// a caller can act on. The envelope may be there or not, and the id be text or a number; what it says must be exact.
import { UpstreamError } from '../../kernel/http-client.ts'

/**
 * refused: finance will not take this invoice as it is, however often it is sent. Everything else may pass with time:
 * unauthorized (the secret or the role is not what finance expects), conflict, unavailable (no response, or one that asks
 * to wait), malformed (a response that is not one; the invoice may have been taken).
 */
export type FinanceFault = 'refused' | 'unauthorized' | 'conflict' | 'unavailable' | 'malformed'

export class FinanceError extends UpstreamError {
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

export type FinanceAction = 'created' | 'updated'

export interface Receipt {
  /** The invoice as finance names it. */
  id: string
  action: FinanceAction
}

const LONGEST_ID = 255

export function readReceipt(text: string, status: number): Receipt {
  const answer = objectIn(text)
  const receipt = answer && isObject(answer.data) ? answer.data : answer
  const id = idIn(receipt?.id ?? receipt?.invoice_id)
  const action = receipt?.action
  if (id === null || (action !== 'created' && action !== 'updated')) {
    const missing = answer ? 'without an invoice id and an action' : 'that is not a JSON object'
    throw new FinanceError(`finance answered ${status} ${missing}`, 'malformed', status)
  }
  return { id, action }
}

/** What finance says of a refusal, in whichever of the usual places it says it. */
export function readRefusal(text: string): string | undefined {
  const answer = objectIn(text)
  const said = answer && isObject(answer.error) ? answer.error : answer
  const words = [said?.code, said?.message ?? said?.detail ?? said?.title ?? answer?.error]
  const found = words.filter(word => typeof word === 'string' && word !== '')
  return found.length > 0 ? found.join(': ') : undefined
}

function idIn(value: unknown): string | null {
  if (Number.isSafeInteger(value)) return String(value)
  const fits = typeof value === 'string' && value !== '' && value.length <= LONGEST_ID
  // The database takes no NUL, and what is no text is no name.
  return fits && !value.includes('\0') && value.isWellFormed() ? value : null
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
