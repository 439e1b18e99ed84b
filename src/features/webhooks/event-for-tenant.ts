// What a webhook that hears of one tenant alone is told of an event: what that tenant may read. Pure.

/**
 * What a tenant reads instead of the reason why a saga failed. Reasons hold the provider's words about the platform's
 * account, and who cancelled; contexts and outputs the provider's ids and what became of resources that may be another's
 * by now.
 */
export const REASON_FOR_TENANTS = 'The operator of the platform can see why.'

type Changes = Record<string, { before: unknown; after: unknown }>

interface Data {
  saga?: { error: object | null; context: object }
  event?: { kind?: string; changes?: Changes | null }
}

/** `data` is JSON text, and comes back as it is where there is nothing to leave out. */
export function dataFor(hearsOf: string | null, type: string, data: string): string {
  const [family] = type.split('.')
  if (hearsOf === null || (family !== 'saga' && family !== 'resource')) return data
  const told = JSON.parse(data) as Data
  const { saga, event } = told
  // As GET /sagas shows a tenant its runs.
  if (saga) {
    const error = saga.error && { ...saga.error, reason: REASON_FOR_TENANTS }
    return JSON.stringify({ ...told, saga: { ...saga, context: {}, error } })
  }
  if (event?.changes && hasChangedHands(event.kind, event.changes))
    return JSON.stringify({ ...told, event: { ...event, changes: withoutBefore(event.changes) } })
  return data
}

/** The event by which a resource comes to a tenant. (What drifted from a desired tenant_id has not moved.) */
const hasChangedHands = (kind: string | undefined, changes: Changes): boolean =>
  kind !== 'drift_detected' && Object.hasOwn(changes, 'tenant_id')

/** What was before is the former tenant's: its id, its project, its deployment, its names, and what has gone with it. */
const withoutBefore = (changes: Changes): Changes =>
  Object.fromEntries(
    Object.entries(changes).flatMap(([field, { after }]) =>
      after === null ? [] : [[field, { before: null, after }]],
    ),
  )
