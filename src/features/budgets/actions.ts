// Making and changing budgets. Whoever does so has them looked at at once.
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, forbidden, invalid, notFound } from '../../kernel/errors.ts'
import { type Caller, type Scope, scopeOf } from '../../kernel/http/caller.ts'
import { newId } from '../../kernel/ids.ts'
import type { JobType } from '../../kernel/queue/queues.ts'
import { type Month, monthOf } from '../../kernel/time.ts'
import { findNamed } from '../deployments/index.ts'
import { beginsAnew, type Measure, type Threshold, USUAL_THRESHOLDS } from './budget.ts'
import {
  type BudgetChanges,
  countBudgets,
  deleteBudget,
  insertBudget,
  lockBudget,
  showBudget,
  updateBudget,
} from './store.ts'

const LookPayload = Type.Object({ budget_id: Type.String() })

export const lookJob: JobType<typeof LookPayload> = {
  name: 'look_at_budget',
  queue: 'metering',
  ownQueue: true,
  payload: LookPayload,
}

/** For showing what this transaction has made, or found in its caller's scope and locked. */
const ANY: Scope = { allTenants: true }

/** All of them are looked at every hour. Operators may make any number. */
export const MOST_OF_ONE_TENANT = 100

export interface CreateBudget {
  name: string
  tenant_id?: string
  deployment_id?: string
  measure?: Measure
  amount_minor: number
  currency?: string
  thresholds?: Threshold[]
}

export interface Made {
  id: string
  /** As it is shown, as JSON text. */
  json: string
}

export function createBudget(deps: Deps, caller: Caller, body: CreateBudget): Promise<Made> {
  const { name, amount_minor, currency = 'USD', thresholds = USUAL_THRESHOLDS } = body
  const scope = scopeOf(caller)
  const at = deps.clock.now().toISOString()
  return transaction(deps.db, async tx => {
    const owner = await ownerOf(tx, caller, scope, body)
    if (!scope.allTenants && (await countBudgets(tx, scope.tenantId)) >= MOST_OF_ONE_TENANT)
      throw conflict('budget_limit', `A tenant can have ${MOST_OF_ONE_TENANT} budgets. Delete one first.`)
    const id = newId()
    const measure = body.measure ?? (owner.tenant_id === null ? 'cost' : 'charge')
    const terms = { name, measure, amount_minor, currency, thresholds }
    const times = { created_by: caller.sub, created_at: at, updated_at: at }
    await insertBudget(tx, { id, ...owner, ...terms, ...times })
    await requestLook(deps, tx, id, at)
    return { id, json: (await showBudget(tx, ANY, await monthFor(deps, tx, owner.tenant_id), id))! }
  })
}

/** Whose the budget is. An operator who names nobody means the whole account; a tenant's member means its tenant. */
async function ownerOf(
  tx: Executor,
  caller: Caller,
  scope: Scope,
  { tenant_id, deployment_id }: CreateBudget,
): Promise<{ tenant_id: string | null; deployment_id: string | null }> {
  const own = scope.allTenants ? null : scope.tenantId
  if (own !== null && tenant_id !== undefined && tenant_id !== caller.tenantId)
    throw forbidden('A budget can be made for your own tenant only.')
  if (deployment_id === undefined) return { tenant_id: tenant_id ?? own, deployment_id: null }
  const [deployment] = await findNamed(tx, scope, [deployment_id])
  if (!deployment) throw refused('/deployment_id', 'names no deployment')
  if (tenant_id !== undefined && tenant_id !== deployment.tenant_id)
    throw refused('/tenant_id', 'is not the tenant of the deployment')
  return { tenant_id: deployment.tenant_id, deployment_id }
}

const refused = (pointer: string, message: string) =>
  invalid('The body is not acceptable.', [{ pointer, message }])

export function changeBudget(deps: Deps, scope: Scope, id: string, changes: BudgetChanges): Promise<string> {
  const at = deps.clock.now().toISOString()
  return transaction(deps.db, async tx => {
    const before = await lockBudget(tx, scope, id)
    if (!before) throw notFound()
    const anew = beginsAnew(before, changes) && { revision: before.revision + 1 }
    await updateBudget(tx, id, { ...changes, ...anew }, at)
    await requestLook(deps, tx, id, at)
    return (await showBudget(tx, ANY, await monthFor(deps, tx, before.tenant_id), id))!
  })
}

/** The month that a tenant's budgets stand in; null: those of the account. */
export const monthFor = async (
  { clock, tenantTime }: Pick<Deps, 'clock' | 'tenantTime'>,
  db: Executor,
  tenantId: string | null,
): Promise<Month> => monthOf(tenantId === null ? clock.now() : await tenantTime.of(db, tenantId))

/** As JSON text, in the month of its tenant. */
export async function budgetInItsMonth(deps: Deps, scope: Scope, id: string): Promise<string | undefined> {
  const month = await monthFor(deps, deps.db, scope.allTenants ? null : scope.tenantId)
  const json = await showBudget(deps.db, scope, month, id)
  if (json === undefined || !scope.allTenants) return json
  const own = await monthFor(deps, deps.db, JSON.parse(json).tenant_id)
  return own.period === month.period ? json : showBudget(deps.db, scope, own, id)
}

export async function removeBudget({ db }: Deps, scope: Scope, id: string): Promise<void> {
  if (!(await deleteBudget(db, scope, id))) throw notFound()
}

/** By its time too: a look that runs already may have read the budget as it was. */
const requestLook = ({ jobs }: Deps, tx: Executor, id: string, at: string): Promise<unknown> =>
  jobs.send(tx, lookJob, { budget_id: id }, { key: `${id}:${at}` })
