// Decides how work that takes time is seen: an action is in progress until the clock has passed its delay,
// then its effect is there and it is completed; an effect that finds its resource gone ends it as errored.
import type { FastifyInstance } from 'fastify'
import { wholeSeconds } from '../clock.ts'
import type { Action, Region } from '../world/kinds.ts'
import { defineEffect, type Effect, schedule, takeEffect } from '../world/world.ts'
import type { ProviderContext } from './endpoints.ts'
import { listing, notFound } from './protocol.ts'

export type Started = {
  type: string
  /** Numbers are shown, an IPv4 address as a number; volumes have none and show null. */
  resource: { kind: 'droplet' | 'volume' | 'reserved_ip' | 'image'; id: string | number }
  region: Region
  effect: Effect
}

export function startAction({ world, clock, actionDelayMs }: ProviderContext, started: Started): Action {
  const now = clock.now()
  const { kind, id } = started.resource
  const action: Action = {
    id: world.ids.number(),
    status: 'in-progress',
    type: started.type,
    started_at: wholeSeconds(now),
    completed_at: null,
    resource_id: typeof id === 'number' ? id : kind === 'reserved_ip' ? addressNumber(id) : null,
    resource_type: kind,
    region: started.region,
    region_slug: started.region.slug,
  }
  world.actions.insert(action, 'first')
  world.actionTargets.set(action.id, `${kind}:${id}`)
  const ending: Ending = { id: action.id, effect: started.effect }
  schedule(world, new Date(now.getTime() + actionDelayMs), { name: ENDING, given: ending })
  return action
}

const addressNumber = (ip: string) =>
  ip.includes(':') ? null : ip.split('.').reduce((number, part) => number * 256 + Number(part), 0)

/** What has happened already: it is completed from the start. */
export function recordAction(
  { world, clock }: ProviderContext,
  { type, resource, region }: Omit<Started, 'effect'>,
): void {
  const at = wholeSeconds(clock.now())
  const action: Action = {
    id: world.ids.number(),
    status: 'completed',
    type,
    started_at: at,
    completed_at: at,
    resource_id: typeof resource.id === 'number' ? resource.id : null,
    resource_type: resource.kind,
    region,
    region_slug: region.slug,
  }
  world.actions.insert(action, 'first')
  world.actionTargets.set(action.id, `${resource.kind}:${resource.id}`)
}

const ENDING = 'action ends'
type Ending = { id: number; effect: Effect }

export function actionsOf({ world }: ProviderContext, target: string): Action[] {
  return world.actions.filter(action => world.actionTargets.get(action.id) === target)
}

export function findAction({ world }: ProviderContext, id: string, target?: string): Action {
  const action = world.actions.get(id)
  if (action === undefined) throw notFound()
  if (target !== undefined && world.actionTargets.get(action.id) !== target) throw notFound()
  return action
}

export const actionLink = (action: Action, rel: string) => ({
  id: action.id,
  rel,
  href: `https://api.digitalocean.com/v2/actions/${action.id}`,
})

export function actionRoutes(app: FastifyInstance, provider: ProviderContext): void {
  const { world } = provider
  defineEffect(world, ENDING, ({ id, effect }: Ending, now) => {
    const status = takeEffect(world, effect, now) === false ? 'errored' : 'completed'
    const action = world.actions.get(String(id))!
    world.actions.replace({ ...action, status, completed_at: wholeSeconds(now) })
    return true
  })
  app.get('/v2/actions', async request => listing(request, 'actions', provider.world.actions))
  app.get<{ Params: { id: string } }>('/v2/actions/:id', async request => ({
    action: findAction(provider, request.params.id),
  }))
}
