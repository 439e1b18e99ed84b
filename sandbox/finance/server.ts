// Decides what the simulated finance service is: one endpoint that keeps an invoice once for each
// (tenant_id, source, external_id) however often it is pushed, and remembers every push for inspection.
import { setTimeout as pause } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { type SandboxClock, systemClock } from '../clock.ts'
import { FaultQueue } from '../fault-queue.ts'
import { keptFile } from '../kept-file.ts'
import { namedUuid } from '../world/kinds.ts'
import { type FinanceInvoice, validationErrors, verifyBearer } from './checks.ts'

export type FinanceRow = FinanceInvoice & {
  id: string
  pushes: number
  created_at: string
  updated_at: string
}

/** One request as it was answered; `status` is 0 when no answer left. */
export type Push = {
  at: string
  external_id: string | null
  action: 'created' | 'updated' | null
  status: number
}

/** Changes whenever the type below it does. */
const KEPT_FORM = 1
type Kept = { rows: [key: string, row: FinanceRow][]; pushes: Push[] }

export type SandboxFinance = {
  listen(port?: number): Promise<{ url: string }>
  close(): Promise<void>
  readonly faults: FaultQueue<FinanceFault>
  readonly invoices: ReadonlyMap<string, FinanceRow>
  readonly pushes: readonly Push[]
}

export const IMPORT_PATH = '/api/v1/integrations/cloud/import-invoice'

export function createSandboxFinance(options: {
  secret: string | readonly string[]
  clock?: SandboxClock
  /** How long finance takes from keeping an invoice to saying so. */
  latencyMs?: number
  /** The file that invoices and pushes are kept in, across restarts. */
  file?: string
}): SandboxFinance {
  const clock = options.clock ?? systemClock
  const secrets = [options.secret].flat()
  const file = options.file === undefined ? undefined : keptFile<Kept>(options.file, KEPT_FORM)
  const kept = file?.read()
  const rows = new Map<string, FinanceRow>(kept?.rows)
  const pushes: Push[] = kept?.pushes ?? []
  const write = () => file?.write({ rows: [...rows], pushes })
  const faults = new FaultQueue<FinanceFault>()
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 64 * 1024 * 1024 })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-sandbox', 'simulated')
  })

  function keep(invoice: FinanceInvoice): { row: FinanceRow; action: 'created' | 'updated' } {
    const key = JSON.stringify([invoice.tenant_id, invoice.source, invoice.external_id])
    const before = rows.get(key)
    const now = clock.now().toISOString()
    const row: FinanceRow = {
      ...invoice,
      id: before?.id ?? namedUuid(`finance:${key}`),
      pushes: (before?.pushes ?? 0) + 1,
      created_at: before?.created_at ?? now,
      updated_at: now,
    }
    rows.set(key, row)
    return { row, action: before === undefined ? 'created' : 'updated' }
  }

  app.post(IMPORT_PATH, async (request, reply) => {
    const push: Push = { at: clock.now().toISOString(), external_id: null, action: null, status: 0 }
    pushes.push(push)
    const answer = (status: number, body: unknown) => {
      push.status = status
      write()
      return reply.code(status).send(body)
    }
    const fault = faults.take(() => true)
    if (fault?.fault === 'stall') return void reply.hijack()
    const early = fault === undefined ? undefined : refusalBefore(fault)
    if (early !== undefined) return answer(early.status, problem(early.code, early.message))

    const verdict = await verifyBearer(request.headers.authorization, secrets, clock.now())
    if ('status' in verdict) {
      const code = verdict.status === 401 ? 'unauthorized' : 'forbidden'
      return answer(verdict.status, problem(code, verdict.message))
    }
    const complaints = validationErrors(request.body)
    if (complaints.length > 0)
      return answer(422, problem('invalid_invoice', 'the invoice is invalid', complaints))
    const invoice = request.body as FinanceInvoice
    push.external_id = invoice.external_id
    if (invoice.tenant_id !== verdict.tenantId) {
      return answer(403, problem('forbidden', 'the token is for another tenant'))
    }
    const { row, action } = keep(invoice)
    push.action = action
    write()
    if (options.latencyMs) await pause(options.latencyMs)
    if (fault?.fault === 'drop_after_commit') {
      reply.hijack()
      request.raw.socket.resetAndDestroy()
      return
    }
    if (fault?.fault === 'error_after_commit') {
      return answer(fault.status ?? 500, problem('server_error', 'something went wrong'))
    }
    if (fault?.fault === 'malformed_answer') {
      reply.type('application/json')
      return answer(200, '{"data": {"id": ')
    }
    return answer(action === 'created' ? 201 : 200, { data: { id: row.id, action } })
  })

  control(app, { rows, pushes, faults })
  return {
    async listen(port = 0) {
      return { url: await app.listen({ host: '127.0.0.1', port }) }
    },
    close: () => app.close(),
    faults,
    invoices: rows,
    pushes,
  }
}

function problem(code: string, message: string, details?: unknown) {
  return { error: { code, message, ...(details === undefined ? {} : { details }) } }
}

function refusalBefore(fault: FinanceFault): { status: number; code: string; message: string } | undefined {
  switch (fault.fault) {
    case 'unauthorized':
      return { status: 401, code: 'unauthorized', message: 'simulated' }
    case 'conflict':
      return { status: 409, code: 'conflict', message: 'simulated' }
    case 'server_error':
      return { status: fault.status ?? 500, code: 'server_error', message: 'simulated' }
    default:
      return undefined
  }
}

/** The way to look inside and to plan faults; needs no token and exists in the sandbox alone. */
function control(
  app: FastifyInstance,
  kept: { rows: Map<string, FinanceRow>; pushes: Push[]; faults: FaultQueue<FinanceFault> },
): void {
  app.get('/__sandbox/invoices', async () => ({ invoices: [...kept.rows.values()], pushes: kept.pushes }))
  app.get('/__sandbox/faults', async () => ({ faults: kept.faults.list() }))
  app.post('/__sandbox/faults', async (request, reply: FastifyReply) => {
    const { body } = request
    if (!isFinanceFault(body)) {
      reply.code(422)
      return problem('invalid_fault', `fault must be one of: ${financeFaultNames.join(', ')}`)
    }
    reply.code(201)
    return { id: kept.faults.add(body), ...body }
  })
  app.delete('/__sandbox/faults', async (_request, reply: FastifyReply) => {
    kept.faults.clear()
    return reply.code(204).send()
  })
}

// Decides which faults the simulated finance service can be asked for: before anything is kept, or after
// the invoice is kept and only the answer goes wrong.

export type FinanceFault =
  | { fault: 'drop_after_commit' }
  | { fault: 'error_after_commit'; status?: number }
  | { fault: 'malformed_answer' }
  | { fault: 'unauthorized' }
  | { fault: 'conflict' }
  | { fault: 'server_error'; status?: number }
  | { fault: 'stall' }

export const financeFaultNames = [
  'drop_after_commit',
  'error_after_commit',
  'malformed_answer',
  'unauthorized',
  'conflict',
  'server_error',
  'stall',
] as const satisfies FinanceFault['fault'][]

export function isFinanceFault(body: unknown): body is FinanceFault {
  const name = typeof body === 'object' && body !== null ? (body as { fault?: unknown }).fault : undefined
  return financeFaultNames.some(known => known === name)
}
