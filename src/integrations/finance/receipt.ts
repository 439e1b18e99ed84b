// Reading finance's answer to a push: which invoice it became, and whether it was new there. The envelope may be there or
// not, and the id be text or a number; what it says must be exact.
import { FinanceError } from './errors.ts'

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
export function readComplaint(text: string): string | undefined {
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
