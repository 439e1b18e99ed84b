// What a request changes in the model, and what it is answered.
import {
  assignment,
  deploymentOrNone,
  HOLD_REASON,
  knownThings,
  nth,
  openDrifts,
  planOf,
  specOf,
} from './choices.ts'
import type { Command } from './commands.ts'
import {
  assignTo,
  close,
  desire,
  isInForce,
  liveValue,
  lose,
  projectChangedHands,
  undesire,
} from './inventory-steps.ts'
import {
  type Answer,
  FORBIDDEN,
  isHeldBack,
  isOperatorsMove,
  mayMove,
  mayOperate,
  NOT_FOUND,
  sees,
  seesAll,
  tieOf,
  turnedAway,
} from './rules.ts'
import { tellUsage } from './statements.ts'
import {
  type Caller,
  type Deployment,
  type Drift,
  iso,
  newDeployment,
  type Project,
  TENANTS,
  type Thing,
  type World,
} from './world.ts'

type Asked = Extract<Command, { by: number }>

export function request(world: World, command: Asked, caller: Caller): Answer {
  switch (command.do) {
    case 'assign project':
      return assign(world, command, caller)
    case 'assign resource': {
      const refused = turnedAway(world, caller, 'operator', 'inventory:write')
      const thing = nth(knownThings(world), command.thing)
      return refused ?? assignThing(world, thing, deploymentOrNone(world, command.deployment), caller)
    }
    case 'create deployment':
      return create(world, nth(TENANTS, command.tenant), caller)
    case 'transition':
    case 'hold billing':
    case 'subscribe':
    case 'change plan': {
      const refused = turnedAway(world, caller, 'caller', 'deployments:write')
      if (refused) return refused
      const deployment = nth(world.deployments, command.deployment)
      if (command.do === 'hold billing' && !mayOperate(world, caller)) return FORBIDDEN
      if (!sees(world, caller, deployment.tenant)) return NOT_FOUND
      if (command.do === 'transition') return transition(world, deployment, command.to, caller)
      if (command.do === 'hold billing') return hold(world, deployment, command.on, caller)
      return subscribe(world, deployment, planOf(command.plan), command.do === 'subscribe')
    }
    case 'tell usage': {
      const refused = turnedAway(world, caller, 'caller', 'usage_events:write')
      if (refused) return refused
      const deployment = nth(world.deployments, command.deployment)
      // Of another's deployment it is told that there is none, and of nothing else.
      if (sees(world, caller, deployment.tenant)) tellUsage(world, deployment, command.ago, command.units)
      return { status: 202 }
    }
    case 'desire': {
      const refused = turnedAway(world, caller, 'operator', 'inventory:write')
      if (refused) return refused
      const thing = nth(knownThings(world), command.thing)
      if (thing.row!.deletedAt !== null) return { status: 409, code: 'resource_gone' }
      desire(thing, specOf(thing, command.spec))
      return { status: 200 }
    }
    case 'accept drift': {
      const refused = turnedAway(world, caller, 'operator', 'drift:accept')
      return refused ?? accept(nth(openDrifts(world), command.drift), caller)
    }
    case 'deprovision': {
      const refused = turnedAway(world, caller, 'operator', 'sagas:run')
      return refused ?? deprovision(world, nth(world.deployments, command.deployment))
    }
    case 'make key': {
      const refused = turnedAway(world, caller, 'caller', 'users:write')
      if (refused) return refused
      if (caller.via === 'key') return FORBIDDEN
      world.callers.push({ ...caller, via: 'key', name: `${caller.name}’s key ${world.callers.length}` })
      return { status: 201 }
    }
  }
}

function assign(world: World, command: Extract<Command, { do: 'assign project' }>, caller: Caller): Answer {
  const refused = turnedAway(world, caller, 'operator', 'projects:write')
  if (refused) return refused
  const project: Project = nth(world.projects, command.project)
  const { tenant_id, purpose } = assignment(command)
  const changed = project.tenant !== tenant_id
  Object.assign(project, { tenant: tenant_id, purpose })
  if (changed) projectChangedHands(world, project.id, caller.sub)
  return { status: 200 }
}

function assignThing(world: World, thing: Thing, chosen: Deployment | null, caller: Caller): Answer {
  const { deletedAt, tenant, tags, deployment, project } = thing.row!
  if (deletedAt !== null) return { status: 409, code: 'resource_gone' }
  if (chosen && project !== null && chosen.tenant !== tenant)
    return { status: 422, code: 'validation_failed' }
  if ((chosen?.id ?? null) === deployment) return { status: 200 }
  if (project !== null && tieOf(world, tags, tenant) !== null) return { status: 409, code: 'tied_by_tag' }
  assignTo(world, thing, chosen, caller.sub)
  return { status: 200 }
}

function create(world: World, tenant: string, caller: Caller): Answer {
  const refused = turnedAway(world, caller, 'caller', 'deployments:write')
  if (refused) return refused
  if (!seesAll(world, caller) && caller.tenant !== tenant) return FORBIDDEN
  world.deployments.push(newDeployment(`d${world.deployments.length + 1}`, tenant, world.now))
  return { status: 201 }
}

const FOLLOWS: Partial<Record<Deployment['state'], 'active' | 'paused' | 'cancelled'>> = {
  active: 'active',
  paused: 'paused',
  suspended: 'paused',
  cancelled: 'cancelled',
}

function transition(world: World, deployment: Deployment, to: Deployment['state'], caller: Caller): Answer {
  const { state: from } = deployment
  if (!mayMove(from, to)) return { status: 422, code: 'invalid_transition' }
  if (isHeldBack(deployment, to)) return { status: 409, code: 'billing_action_suspended' }
  if (isOperatorsMove(from, to) && !mayOperate(world, caller)) return { status: 403, code: 'operator_only' }
  deployment.state = to
  const { sub: actor, role: actor_role } = caller
  const created_at = new Date(world.now).toISOString()
  deployment.events.push({ from_state: from, to_state: to, actor, actor_role, created_at })
  const follows = FOLLOWS[to]
  if (deployment.subscription && follows) deployment.subscription.status = follows
  if (to === 'cancelled') endTerms(world, deployment)
  return { status: 200 }
}

/** Who sets it again changes nothing. */
function hold(world: World, deployment: Deployment, on: boolean, { sub }: Caller): Answer {
  if (!on) deployment.hold = null
  else deployment.hold ??= { by: sub, at: iso(world.now), reason: HOLD_REASON }
  return { status: 200 }
}

const isOver = ({ state }: Deployment): boolean => state === 'cancelled' || state === 'archived'

function subscribe(world: World, deployment: Deployment, plan: string, anew: boolean): Answer {
  const { subscription } = deployment
  if (!anew) {
    if (subscription === null) return { status: 409, code: 'not_subscribed' }
    if (subscription.status === 'cancelled') return { status: 422, code: 'validation_failed' }
    if (subscription.plan !== plan) agree(world, deployment, plan)
    subscription.plan = plan
    return { status: 200 }
  }
  if (isOver(deployment)) return { status: 422, code: 'validation_failed' }
  if (subscription !== null) return { status: 409, code: 'already_subscribed' }
  deployment.subscription = {
    plan,
    status: deployment.state === 'active' ? 'active' : (FOLLOWS[deployment.state] ?? 'active'),
    since: world.now,
  }
  agree(world, deployment, plan)
  return { status: 201 }
}

function agree(world: World, deployment: Deployment, plan: string): void {
  endTerms(world, deployment)
  deployment.terms.push({ plan, from: world.now, to: null })
}

function endTerms(world: World, { terms }: Deployment): void {
  const last = terms.at(-1)
  if (last) last.to ??= world.now
}

function accept({ thing, drift }: { thing: Thing; drift: Drift }, { sub }: Caller): Answer {
  if (drift.status !== 'open') return { status: 409, code: 'drift_not_open' }
  if (thing.row!.deletedAt !== null) return { status: 409, code: 'resource_gone' }
  if (!isInForce(thing)) return { status: 409, code: 'drift_not_open' }
  const live = liveValue(thing.row!, drift.field)
  thing.desired = {
    ...thing.desired!,
    spec: { ...thing.desired!.spec, [drift.field]: live },
    version: thing.desired!.version + 1,
  }
  drift.actual = live
  close(drift, 'accepted', sub)
  return { status: 200 }
}

/**
 * What carries the deployment's tag must lie in its tenant's projects and name no other deployment: or nothing is destroyed.
 * What the inventory knows to be elsewhere is said at once, what only the provider knows is the run's end.
 */
function deprovision(world: World, { id: deployment, tenant }: Deployment): Answer {
  const tag = `deployment:${deployment}`
  const elsewhere = ({ row, kind }: Thing) =>
    row?.deletedAt === null &&
    row.tags.includes(tag) &&
    row.deployment !== deployment &&
    (row.tenant !== null || kind === 'droplet')
  if (world.things.some(elsewhere)) return { status: 409, code: 'tag_on_other_resources' }
  const droplets = world.things.filter(({ kind }) => kind === 'droplet')
  const tagged = droplets.filter(({ real }) => real.there && real.tags.includes(tag))
  const isOwn = ({ real }: Thing) =>
    world.projects.find(({ provider_id }) => provider_id === real.project)!.tenant === tenant &&
    new Set(real.tags.filter(word => word.startsWith('deployment:'))).size === 1
  const status = tagged.every(isOwn) ? ('completed' as const) : ('rolled_back' as const)
  const id = `S:${world.sagas.length + 1}`
  world.sagas.push({ id, deployment, tenant, status })
  const gone = droplets.filter(
    ({ row, real }) => row?.deployment === deployment && row.assigned === null && !real.there,
  )
  for (const thing of status === 'completed' ? [...gone, ...tagged] : gone) {
    thing.real.there = false
    if (thing.row === null || thing.row.deletedAt !== null) continue
    lose(world, thing, `saga:${id}`)
    undesire(thing)
  }
  return { status: 202 }
}
