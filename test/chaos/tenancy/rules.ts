// Who may do what, and what a tag ties: the contract's words once more, sharing no line with the code under test.
import { type Caller, type Deployment, PLATFORM, type State, type World } from './world.ts'

export interface Answer {
  status: number
  code?: string
}

export const FORBIDDEN: Answer = { status: 403, code: 'forbidden' }
export const NOT_FOUND: Answer = { status: 404, code: 'not_found' }

export const isAdmin = ({ role }: Caller): boolean => role === 'platform_admin'

const isOperator = (world: World, { tenant, role }: Caller): boolean =>
  tenant === PLATFORM && world.roles[role] !== undefined

export const seesAll = (world: World, caller: Caller): boolean => isAdmin(caller) || isOperator(world, caller)

export const sees = (world: World, caller: Caller, tenant: string | null): boolean =>
  seesAll(world, caller) || (tenant !== null && tenant === caller.tenant)

/** Whether the caller's role permits it; `*` stands for areas, not for what has a name of its own. */
export function permits(world: World, caller: Caller, needed: string): boolean {
  if (isAdmin(caller)) return true
  const granted = world.roles[caller.role]
  if (granted === undefined) return !isNamed(needed)
  return granted.includes(needed) || (!isNamed(needed) && granted.includes(`*:${needed.split(':')[1]}`))
}

const isNamed = (permission: string): boolean => !/:(read|write)$/.test(permission)

/** Why the guard turns the caller away; null: it does not. */
export function turnedAway(
  world: World,
  caller: Caller,
  guard: 'caller' | 'operator' | 'platform_admin',
  needed: string,
): Answer | null {
  if (world.suspended.has(caller.sub)) return { status: 403, code: 'user_suspended' }
  if (isAdmin(caller)) return null
  if (guard === 'platform_admin' || (guard === 'operator' && !isOperator(world, caller))) return FORBIDDEN
  return permits(world, caller, needed) ? null : FORBIDDEN
}

const MOVES: Record<State, readonly State[]> = {
  trial: ['active', 'past_due', 'suspended', 'cancelled'],
  active: ['past_due', 'paused', 'suspended', 'cancelled'],
  past_due: ['active', 'paused', 'suspended', 'cancelled'],
  paused: ['active', 'suspended', 'cancelled'],
  suspended: ['active', 'cancelled'],
  cancelled: ['archived'],
  archived: [],
}

export const mayMove = (from: State, to: State): boolean => MOVES[from].includes(to)

const BILLING: readonly State[] = ['past_due', 'suspended']

/** Into or out of what billing does, and into a trial; but whoever is suspended may still leave. */
export const isOperatorsMove = (from: State, to: State): boolean =>
  to === 'trial' || BILLING.includes(to) || (BILLING.includes(from) && to !== 'cancelled')

/** A tenant's own role never gives that. */
export const mayOperate = (world: World, caller: Caller): boolean =>
  seesAll(world, caller) && permits(world, caller, 'deployments:operate')

export const isHeldBack = ({ hold }: Deployment, to: State): boolean => hold !== null && BILLING.includes(to)

/** What this caller may do with the deployment now. */
export const allowedMoves = (world: World, caller: Caller, deployment: Deployment): State[] =>
  permits(world, caller, 'deployments:write')
    ? MOVES[deployment.state].filter(
        to =>
          (mayOperate(world, caller) || !isOperatorsMove(deployment.state, to)) &&
          !isHeldBack(deployment, to),
      )
    : []

/** The deployment that tags tie a resource of the tenant to: one of its own, and the only one they name. */
export function tieOf(world: World, tags: readonly string[], tenant: string | null): string | null {
  const named = new Set(
    tags.filter(tag => tag.startsWith('deployment:')).map(tag => tag.slice('deployment:'.length)),
  )
  const [only, another] = named
  if (only === undefined || another !== undefined) return null
  return world.deployments.some(({ id, tenant: owner }) => id === only && owner === tenant) ? only : null
}
