// Decides which invoice the simulated finance service takes, and from whom.
import { errors, type JWTPayload, jwtVerify } from 'jose'

// Decides which invoice the simulated finance service takes: the agreed fields, whole minor units, and a
// gross that is the sum of net and tax.

export type FinanceInvoice = {
  tenant_id: string
  source: string
  external_id: string
  period_start: string
  period_end: string
  currency: string
  amount_net_minor: number
  amount_tax_minor: number
  amount_gross_minor: number
  lines: Record<string, unknown>[]
}

export type InvalidField = { field: string; message: string }

const texts = ['tenant_id', 'source', 'external_id'] as const
const dates = ['period_start', 'period_end'] as const
const amounts = ['amount_net_minor', 'amount_tax_minor', 'amount_gross_minor'] as const

function isDate(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false
  const date = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value)
}

/** Every complaint at once; none means the payload is a FinanceInvoice. */
export function validationErrors(body: unknown): InvalidField[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return [{ field: '', message: 'must be an object' }]
  }
  const payload = body as Record<string, unknown>
  const found: InvalidField[] = []
  const must = (passes: boolean, field: string, message: string) => {
    if (!passes) found.push({ field, message })
  }
  for (const field of texts) {
    const value = payload[field]
    must(
      typeof value === 'string' && value.length > 0 && value.length <= 255,
      field,
      'must be a non-empty text',
    )
  }
  for (const field of dates) must(isDate(payload[field]), field, 'must be a date, YYYY-MM-DD')
  for (const field of amounts) must(Number.isSafeInteger(payload[field]), field, 'must be whole minor units')
  must(/^[A-Z]{3}$/.test(String(payload.currency)), 'currency', 'must be an ISO 4217 code')
  must(Array.isArray(payload.lines), 'lines', 'must be a list')
  if (found.length > 0) return found

  const invoice = payload as FinanceInvoice
  must(invoice.period_start <= invoice.period_end, 'period_end', 'must not be before period_start')
  must(
    invoice.amount_net_minor + invoice.amount_tax_minor === invoice.amount_gross_minor,
    'amount_gross_minor',
    'must be net plus tax',
  )
  invoice.lines.forEach((line, index) => {
    const isLine = typeof line === 'object' && line !== null && !Array.isArray(line)
    must(isLine && typeof line.description === 'string', `lines/${index}/description`, 'must be a text')
    must(
      isLine && Number.isSafeInteger(line.amount_minor),
      `lines/${index}/amount_minor`,
      'must be whole minor units',
    )
  })
  return found
}

// Decides who may push an invoice: a bearer signed with a shared secret (HS256), that expires within two
// minutes, for a tenant, with the role admin. Not proven: 401. Proven but not allowed: 403.

const LONGEST_LIFE_SECONDS = 120

export type BearerCheck = { tenantId: string } | { status: 401 | 403; message: string }

export async function verifyBearer(
  header: string | undefined,
  secrets: readonly string[],
  now: Date,
): Promise<BearerCheck> {
  const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1]
  if (token === undefined) return { status: 401, message: 'no bearer token' }
  const claims = await verified(token, secrets, now)
  if (typeof claims === 'string') return { status: 401, message: claims }
  const lives = claims.exp! - Math.min(claims.iat ?? Infinity, now.getTime() / 1000)
  if (lives > LONGEST_LIFE_SECONDS) return { status: 401, message: 'the token lives too long' }
  if (typeof claims.tenant_id !== 'string' || claims.tenant_id === '') {
    return { status: 403, message: 'the token names no tenant' }
  }
  const roles = [claims.role, claims.roles].flat()
  if (!roles.includes('admin')) return { status: 403, message: 'the role admin is required' }
  return { tenantId: claims.tenant_id }
}

/** Any of the secrets will do, so that they can be rotated. */
async function verified(token: string, secrets: readonly string[], now: Date): Promise<JWTPayload | string> {
  let reason = 'no secret is configured'
  for (const secret of secrets) {
    try {
      const options = { algorithms: ['HS256'], requiredClaims: ['exp'], currentDate: now }
      return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload
    } catch (error) {
      reason = error instanceof errors.JOSEError ? error.message : 'the token cannot be read'
    }
  }
  return reason
}
