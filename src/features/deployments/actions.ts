// Creating and changing deployments.
import { sql } from 'kysely'
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, mayOperate, scopeOf, seesAllTenants } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import { type Books, timeOf } from '../subscriptions/index.ts'
import { allowPast } from './backdating.ts'
import type { CloudDeploymentRow } from './deployment.ts'
import { FIRST_STATE, OPERATE } from './lifecycle.ts'
import { DEPLOYMENTS } from './store.ts'

type Needed = Pick<Deps, 'db' | 'tenantTime'>

interface Founding extends Needed {
  books: Pick<Books, 'openFrom'>
}

export interface NewDeployment {
  slug: string
  tenant_id?: string
  display_name?: string
  region?: string
  llm_mode?: string
  template_code?: string | null
  template_version?: string | null
  created_at?: string
}

/** It starts in `active`; creating it records no event, for no state was left. */
export async function createDeployment(
  { db, tenantTime, books }: Founding,
  caller: Caller,
  { created_at, ...given }: NewDeployment,
): Promise<CloudDeploymentRow> {
  const tenant_id = tenantFor(caller, given.tenant_id)
  const now = await tenantTime.of(db, tenant_id)
  const named = { ...given, tenant_id }
  if (created_at === undefined) return insertDeployment(db, named, now.toISOString())
  const at = timeOf(created_at, now, '/created_at')
  if (at > now.toISOString())
    throw invalid('The body is not acceptable.', [{ pointer: '/created_at', message: 'is still to come' }])
  return transaction(db, async tx => {
    await allowPast(tx, books, caller, { tenantId: tenant_id, field: 'created_at', at })
    return insertDeployment(tx, named, at)
  })
}

async function insertDeployment(
  db: Executor,
  given: Omit<NewDeployment, 'created_at'> & { tenant_id: string },
  at: string,
): Promise<CloudDeploymentRow> {
  const row: CloudDeploymentRow = {
    id: newId(),
    tenant_id: given.tenant_id,
    slug: given.slug,
    display_name: given.display_name ?? given.slug,
    region: given.region ?? 'nyc3',
    state: FIRST_STATE,
    llm_mode: given.llm_mode ?? 'standard',
    billing_action_suspended: false,
    billing_action_suspended_by: null,
    billing_action_suspended_at: null,
    billing_action_suspended_reason: null,
    template_code: given.template_code ?? null,
    template_version: given.template_version ?? null,
    created_at: at,
    updated_at: at,
  }
  try {
    return (await DEPLOYMENTS.insert(db, [row]))[0]!
  } catch (error) {
    if (violatedConstraint(error) !== 'cloud_deployments_slug') throw error
    throw conflict('slug_taken', `The tenant has a deployment with the slug ${given.slug} already.`)
  }
}

function tenantFor(caller: Caller, named: string | undefined): string {
  const tenant = named ?? caller.tenantId
  if (tenant === null) {
    throw invalid('The body is not acceptable.', [
      { pointer: '/tenant_id', message: 'is required: the token names no tenant' },
    ])
  }
  if (!seesAllTenants(caller) && tenant !== caller.tenantId)
    throw forbidden('A deployment can be made for your own tenant only.')
  return tenant
}

export interface DeploymentUpdate {
  display_name?: string
  template_code?: string | null
  template_version?: string | null
  billing_action_suspended?: boolean
  billing_action_suspended_reason?: string | null
}

export async function updateDeployment(
  { db, tenantTime }: Needed,
  caller: Caller,
  id: string,
  {
    billing_action_suspended: suspended,
    billing_action_suspended_reason: reason,
    ...changes
  }: DeploymentUpdate,
): Promise<CloudDeploymentRow> {
  if ((suspended !== undefined || reason !== undefined) && !mayOperate(caller, OPERATE)) {
    throw forbidden(`billing_action_suspended is for operators with ${OPERATE}.`)
  }
  if (reason !== undefined && suspended !== true) {
    throw invalid('The body is not acceptable.', [
      { pointer: '/billing_action_suspended_reason', message: 'goes with billing_action_suspended: true' },
    ])
  }
  const at = (await tenantTime.ofDeployment(db, id)).toISOString()
  const scope = scopeOf(caller)
  const [row] = await DEPLOYMENTS.update(db, scope.allTenants ? { id } : { id, tenant_id: scope.tenantId }, {
    ...changes,
    updated_at: at,
    ...(suspended === false && NOT_SUSPENDED),
    ...(suspended === true && suspendedBy(caller.sub, at, reason)),
  })
  if (!row) throw notFound()
  return row
}

const NOT_SUSPENDED = {
  billing_action_suspended: false,
  billing_action_suspended_by: null,
  billing_action_suspended_at: null,
  billing_action_suspended_reason: null,
}

/** Suspending again changes nothing but the reason, where one is given. */
function suspendedBy(by: string, at: string, reason: string | null | undefined) {
  const first = <T>(column: string, value: T) =>
    sql<T>`case when billing_action_suspended then coalesce(${sql.ref(column)}, ${value}) else ${value} end`
  return {
    billing_action_suspended: true,
    billing_action_suspended_by: first('billing_action_suspended_by', by),
    billing_action_suspended_at: first('billing_action_suspended_at', at),
    billing_action_suspended_reason:
      reason === undefined
        ? sql<string | null>`case when billing_action_suspended then billing_action_suspended_reason end`
        : reason,
  }
}
