// What the numbers of a command mean in a world, and when it makes sense at all.
import type { Command, TagChoice } from './commands.ts'
import { isAdmin } from './rules.ts'
import { type Drift, monthOf, monthsOf, TENANTS, type Thing, type World } from './world.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const NAMES = ['web', 'db', 'tax-api', 'queue', 'cache'] as const
export const PLANS = ['small', 'large'] as const
const PURPOSES = ['tenant', 'shared', 'unassigned', 'internal'] as const
export const HOLD_REASON = 'a bill in dispute'
const MOST_DEPLOYMENTS = 4
const MOST_THINGS = 6
const MOST_KEYS = 3
const MOST_MONTHS = 4

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
  return [
    { name },
    { name: 'wanted' },
    { size_slug: 's-9' },
    { tags: [], size_slug: size },
    { deployment_id: 'D:d2', tenant_id: 'bolt' },
  ][choice]!
}

const TENANT_CHOICES = [...TENANTS, 'platform', null] as const
export function assignment({ tenant, purpose }: { tenant: number; purpose: number }) {
  const tenant_id = nth(TENANT_CHOICES, tenant)
  return { tenant_id, purpose: tenant_id === null ? ('unassigned' as const) : nth(PURPOSES, purpose) }
}

/** Null: of none. */
export const deploymentOrNone = ({ deployments }: World, index: number) => nth([...deployments, null], index)

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
    case 'assign resource':
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

export const nthThing = (world: World, index: number): Thing | undefined =>
  world.things[index % world.things.length]

/** When the command is carried out. */
export function laterBy({ now }: World, { do: what }: Command): number {
  if (what === 'next month') return monthOf(now).end + HOUR
  return now + (what.startsWith('sweep') ? HOUR : MINUTE)
}
