// One command's effect on the model, and what whoever sent it is answered.
import type { Command, TagChoice } from './commands.ts'
import {
  close,
  desire,
  detectDrift,
  isInForce,
  liveValue,
  lose,
  projectChangedHands,
  see,
  sweepKind,
  sweepProjects,
  undesire,
} from './inventory-steps.ts'
import { matchLine } from './lines.ts'
import {
  type Answer,
  FORBIDDEN,
  isAdmin,
  isHeldBack,
  isOperatorsMove,
  mayMove,
  mayOperate,
  NOT_FOUND,
  sees,
  seesAll,
  turnedAway,
} from './rules.ts'
import {
  type Caller,
  type Deployment,
  type Drift,
  GRANTS,
  iso,
  monthOf,
  monthsOf,
  newDeployment,
  PROJECTS,
  type Project,
  ROLES,
  TENANTS,
  type Thing,
  type World,
} from './world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
export const NAMES = ['web', 'db', 'tax-api', 'queue', 'cache'] as const
export const PLANS = ['small', 'large'] as const
const PURPOSES = ['tenant', 'shared', 'unassigned', 'internal'] as const
export const HOLD_REASON = 'a bill in dispute'
const MOST_DEPLOYMENTS = 4
const MOST_THINGS = 6
const MOST_KEYS = 3
const MOST_MONTHS = 3

/** Which one a number means; undefined where there are none. */
export const nth = <T>(list: readonly T[], index: number): T => list[index % list.length]!

export const wordsOf = (world: World, choices: readonly TagChoice[]): string[] =>
  choices.map(choice =>
    'word' in choice ? `env:${choice.word}` : `deployment:${nth(world.deployments, choice.deployment).id}`,
  )

/** Resources that the inventory knows. */
export const knownThings = (world: World): Thing[] => world.things.filter(({ row }) => row !== null)
export const openDrifts = (world: World): { thing: Thing; drift: Drift }[] =>
  world.things.flatMap(thing => thing.drifts.map(drift => ({ thing, drift })))

export function specOf(thing: Thing, choice: number): Record<string, unknown> {
  const { name, size } = thing.row!
  return [{ name }, { name: 'wanted' }, { size_slug: 's-9' }, { tags: [], size_slug: size }][choice]!
}

const TENANT_CHOICES = [...TENANTS, 'platform', null] as const
export function assignment({ tenant, purpose }: { tenant: number; purpose: number }) {
  const tenant_id = nth(TENANT_CHOICES, tenant)
  return { tenant_id, purpose: tenant_id === null ? ('unassigned' as const) : nth(PURPOSES, purpose) }
}

export const planOf = (index: number): string => nth(PLANS, index)

/** Whether there is anything that the command could be about. */
export function makesSense(world: World, command: Command): boolean {
  switch (command.do) {
    case 'make':
      return world.things.length < MOST_THINGS
    case 'rename':
    case 'retag':
    case 'resize':
    case 'remove':
    case 'move':
      return nthThing(world, command.thing)?.real.there === true
    case 'return':
      return nthThing(world, command.thing)?.real.there === false
    case 'refresh':
      return world.things.length > 0
    case 'desire':
      return knownThings(world).length > 0
    case 'ingest':
      return world.things.length > 0
    case 'accept drift':
      return openDrifts(world).length > 0
    case 'create deployment':
      return world.deployments.length < MOST_DEPLOYMENTS
    case 'next month':
      return monthsOf(world).length < MOST_MONTHS
    case 'make key':
      return world.callers.filter(({ via }) => via === 'key').length < MOST_KEYS
    case 'suspend':
      return !isAdmin(nth(world.callers, command.caller))
    default:
      return true
  }
}

const nthThing = (world: World, index: number): Thing | undefined => world.things[index % world.things.length]

/** When the command is carried out. */
export function laterBy({ now }: World, { do: what }: Command): number {
  if (what === 'next month') return monthOf(now).end + HOUR
  return now + (what.startsWith('sweep') ? HOUR : MINUTE)
}

/** Undefined: nobody asked, or the answer is not looked at. */
export function step(world: World, command: Command): Answer | undefined {
  if (command.do !== 'sweep') world.now = laterBy(world, command)
  switch (command.do) {
    case 'make':
      return make(world, command)
    case 'rename':
      nthThing(world, command.thing)!.real.name = nth(NAMES, command.name)
      return
    case 'retag':
      nthThing(world, command.thing)!.real.tags = wordsOf(world, command.tags)
      return
    case 'resize': {
      const { real } = nthThing(world, command.thing)!
      real.size = real.size === 's-1' ? 's-2' : 's-1'
      return
    }
    case 'remove':
      nthThing(world, command.thing)!.real.there = false
      return
    case 'return':
      nthThing(world, command.thing)!.real.there = true
      return
    case 'move':
      nthThing(world, command.thing)!.real.project = nth(PROJECTS, command.project)
      return
    case 'sweep':
      for (let turn = 0; turn < command.times; turn++) {
        world.now += HOUR
        if (command.projectsFirst) sweepProjects(world)
        sweepKind(world, 'droplet')
        sweepKind(world, 'volume')
        if (!command.projectsFirst) sweepProjects(world)
      }
      return
    case 'sweep projects':
      sweepProjects(world)
      return
    case 'sweep kind':
      sweepKind(world, command.kind)
      return
    case 'refresh': {
      const thing = nthThing(world, command.thing)!
      if (thing.real.there) see(world, thing, 'refresh')
      return
    }
    case 'detect drift':
      detectDrift(world)
      return
    case 'meter':
      meter(world)
      return
    case 'next month':
      return
    case 'ingest':
      ingest(world, command.lines)
      return
    case 'permit':
      world.roles[nth(Object.keys(ROLES), command.role)] = GRANTS[command.grant]!
      return
    case 'suspend': {
      const { sub } = nth(world.callers, command.caller)
      if (command.on) world.suspended.add(sub)
      else world.suspended.delete(sub)
      return
    }
    default:
      return request(world, command, nth(world.callers, command.by))
  }
}

type Asked = Extract<Command, { by: number }>

function request(world: World, command: Asked, caller: Caller): Answer {
  switch (command.do) {
    case 'assign project':
      return assign(world, command, caller)
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

function make(world: World, { kind, project, name, tags }: Extract<Command, { do: 'make' }>): undefined {
  const number = world.things.length + 1
  const provider_id = kind === 'droplet' ? String(9000 + number) : `vol-${number}`
  world.things.push({
    id: `R:${provider_id}`,
    kind,
    provider_id,
    real: {
      there: true,
      name: nth(NAMES, name),
      tags: wordsOf(world, tags),
      size: 's-1',
      project: nth(PROJECTS, project),
    },
    listed: null,
    row: null,
    events: [],
    hands: [],
    ties: [],
    lives: [],
    desired: null,
    drifts: [],
  })
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

function create(world: World, tenant: string, caller: Caller): Answer {
  const refused = turnedAway(world, caller, 'caller', 'deployments:write')
  if (refused) return refused
  if (!seesAll(world, caller) && caller.tenant !== tenant) return FORBIDDEN
  world.deployments.push(newDeployment(`d${world.deployments.length + 1}`, tenant))
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
  if (isOperatorsMove(from, to) && !mayOperate(world, caller)) return { status: 403, code: 'operator_only' }
  if (isHeldBack(deployment, to)) return { status: 409, code: 'billing_action_suspended' }
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
  const gone = droplets.filter(({ row, real }) => row?.deployment === deployment && !real.there)
  for (const thing of status === 'completed' ? [...gone, ...tagged] : gone) {
    thing.real.there = false
    if (thing.row === null || thing.row.deletedAt !== null) continue
    lose(world, thing, `saga:${id}`)
    undesire(thing)
  }
  return { status: 202 }
}

const SETTLED = 5 * MINUTE

function meter(world: World): void {
  const over = Math.floor((world.now - SETTLED) / HOUR) * HOUR
  world.meteredUntil = Math.max(over, world.meteredUntil ?? Number.NEGATIVE_INFINITY)
}

function ingest(world: World, lines: Extract<Command, { do: 'ingest' }>['lines']): void {
  const invoice = `invoice-${world.invoices.length + 1}`
  world.invoices.push(invoice)
  for (const [index, { thing, hoursAgo }] of lines.entries()) {
    const { kind, row, real } = nthThing(world, thing)!
    const until = world.now - hoursAgo * HOUR
    const name = row?.name ?? real.name
    const line_number = index + 2
    const owner = matchLine(world, { kind, name, from: until - HOUR, until })
    world.lines.push({
      id: `L:${invoice}:${line_number}`,
      invoice: `I:${invoice}`,
      line_number,
      kind,
      name,
      amount: `${index + 1}.50`,
      ...owner,
    })
  }
}
