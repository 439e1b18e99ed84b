// Setting and deleting desired states, accepting drift, and making ignore rules. Locks are taken in one order everywhere: the
// resource, its desired state, its drift.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { CloudProvisionedRow, DriftIgnoreRuleRow } from './drift.ts'
import { specErrors } from './spec.ts'
import {
  adoptLiveValue,
  closeDrift,
  deleteDesiredStateOf,
  IGNORE_RULES,
  type LockedResource,
  lockDesiredStates,
  lockResource,
  resourceOfDrift,
  saveDesiredState,
  statusOfDrift,
} from './store.ts'

type Needed = Pick<Deps, 'db' | 'clock'>

export interface DesiredState {
  resourceId: string
  /** Field → desired value. */
  spec: Record<string, unknown>
  /** The saga that wants it so; null (an operator) keeps the saga that made the resource on record. */
  sagaId: string | null
}

/** Drift of fields that are no longer desired is closed, and so is what opened while the resource was another tenant's. */
export async function writeDesiredState(
  tx: Executor,
  at: string,
  { resourceId, spec, sagaId }: DesiredState,
): Promise<CloudProvisionedRow> {
  const resource = await lockResource(tx, resourceId)
  if (!resource) throw notFound()
  const state = { resource_id: resourceId, tenant_id: resource.tenant_id, spec }
  const written = await saveDesiredState(tx, at, { ...state, saga_id: sagaId })
  await closeDrift(tx, at, state)
  return written
}

/** Nothing is desired of the resource any more, and its drift is closed; whether anything was desired. */
export async function dropDesiredState(tx: Executor, at: string, resourceId: string): Promise<boolean> {
  await lockResource(tx, resourceId)
  const dropped = await deleteDesiredStateOf(tx, resourceId)
  await closeDrift(tx, at, { resource_id: resourceId, tenant_id: null, spec: {} })
  return dropped
}

/** For an operator: adopts a resource that no saga made, and replaces the spec of any other. */
export function setDesiredState(
  { db, clock }: Needed,
  resourceId: string,
  spec: Record<string, unknown>,
): Promise<CloudProvisionedRow> {
  const errors = specErrors(spec)
  if (errors.length > 0) throw invalid('The spec is not acceptable.', errors)
  return transaction(db, async tx => {
    refuseGone(await lockResource(tx, resourceId))
    return writeDesiredState(tx, clock.now().toISOString(), { resourceId, spec, sagaId: null })
  })
}

/** The live value, read again now, is desired from here on. The accepted drift as JSON text. */
export function acceptDrift({ db, clock }: Needed, id: string, actor: string): Promise<string> {
  return transaction(db, async tx => {
    const resourceId = await resourceOfDrift(tx, id)
    if (!resourceId) throw notFound()
    // With both locked, no sync, sweep or other accept changes anything until this is done.
    const resource = await lockResource(tx, resourceId)
    await lockDesiredStates(tx, [resourceId])
    const status = await statusOfDrift(tx, id)
    if (status !== 'open') throw notOpen(status ?? 'ignored')
    refuseGone(resource)
    const accepted = await adoptLiveValue(tx, clock.now().toISOString(), id, actor)
    if (accepted === undefined) throw notOpen('no longer desired')
    return accepted
  })
}

const notOpen = (state: string) =>
  conflict('drift_not_open', `Only open drift can be accepted; this is ${state}.`)

function refuseGone(resource: LockedResource | undefined): void {
  if (resource?.deleted_at == null) return
  throw conflict(
    'resource_gone',
    `The resource was deleted at ${resource.deleted_at}: there is no live value. Delete its desired state, or provision it anew.`,
  )
}

export interface NewIgnoreRule {
  kind?: string | null
  resource_id?: string | null
  field: string
  reason: string
  expires_at?: string | null
}

/** It holds from the next sweep on, until it expires or is deleted. */
export async function createIgnoreRule(
  { db, clock }: Needed,
  { kind = null, resource_id = null, field, reason, expires_at = null }: NewIgnoreRule,
  actor: string,
): Promise<DriftIgnoreRuleRow> {
  const now = clock.now()
  const expires = expires_at === null ? null : Date.parse(expires_at)
  if (expires !== null && !(expires > now.getTime() && expires <= LAST_TIME))
    throw unacceptable('/expires_at', 'must be in the future')
  const row = {
    id: newId(),
    ...{ kind, resource_id, field, reason },
    expires_at: expires === null ? null : new Date(expires).toISOString(),
    created_by: actor,
    created_at: now.toISOString(),
  }
  try {
    return (await IGNORE_RULES.insert(db, [row]))[0]!
  } catch (error) {
    if (violatedConstraint(error) !== 'drift_ignore_rules_resource_id_fkey') throw error
    throw unacceptable('/resource_id', 'is not a resource of the inventory')
  }
}

const unacceptable = (pointer: string, message: string) =>
  invalid('The body is not acceptable.', [{ pointer, message }])

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
