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
