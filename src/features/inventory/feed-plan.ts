// What is to be looked at again after some of the provider's actions. Pure.
import type { Kind, ProviderAction } from '../../integrations/digitalocean/index.ts'

export interface FeedPlan {
  /** Single resources to be read, each once. `gone`: also if their kind is listed, which would not tell so surely. */
  resources: { kind: Kind; provider_id: string; gone: boolean }[]
  /** Kinds to be listed: it is not said which of them it was, or listing all costs less than reading each. */
  kinds: Kind[]
}

/** What actions make or change beside their own resource. */
const ALSO: Record<string, readonly Kind[]> = {
  snapshot: ['snapshot', 'image'],
  attach_volume: ['droplet'],
  detach_volume: ['droplet'],
  destroy: ['volume', 'reserved_ip'],
}

/** `costs`: requests that a kind's listing took when it was last read. */
export function planLooks(actions: readonly ProviderAction[], costs: ReadonlyMap<string, number>): FeedPlan {
  const ids = new Map<Kind, Set<string>>()
  const kinds = new Set<Kind>()
  const gone = new Set<string>()
  for (const { kind, provider_id, type, underWay } of actions) {
    if (kind === null) continue
    if (provider_id === null) kinds.add(kind)
    else if (type === 'destroy') gone.add(`${kind}:${provider_id}`)
    if (provider_id !== null) ids.set(kind, (ids.get(kind) ?? new Set()).add(provider_id))
    if (!underWay && Object.hasOwn(ALSO, type)) for (const other of ALSO[type]!) kinds.add(other)
  }
  const resources: FeedPlan['resources'] = []
  for (const [kind, of] of ids) {
    const cost = costs.get(kind)
    const isGone = (provider_id: string) => gone.has(`${kind}:${provider_id}`)
    if (cost !== undefined && [...of].filter(id => !isGone(id)).length > cost) kinds.add(kind)
    for (const provider_id of of)
      if (isGone(provider_id) || !kinds.has(kind))
        resources.push({ kind, provider_id, gone: isGone(provider_id) })
  }
  return { resources, kinds: [...kinds] }
}

/** Whether an action changes this kind, as its own or in passing. */
export const changesKind = (action: ProviderAction, kind: Kind): boolean =>
  action.kind === kind || (Object.hasOwn(ALSO, action.type) && ALSO[action.type]!.includes(kind))

/** Kinds that actions are about, one way or the other: a gap in the list of actions may hide changes of these. */
export const KINDS_WITH_ACTIONS: readonly Kind[] = ['droplet', 'volume', 'image', 'reserved_ip', 'snapshot']

/**
 * The actions of late that concern a resource, newest first. One that names none, or that changes this kind in passing, concerns
 * every one of the region.
 */
export function actionsOfKind(actions: readonly ProviderAction[], kind: Kind) {
  const inPassing = ({ type }: ProviderAction) => Object.hasOwn(ALSO, type) && ALSO[type]!.includes(kind)
  const own = actions.filter(action => action.kind === kind || inPassing(action)).sort((a, b) => b.id - a.id)
  return ({ provider_id, region }: { provider_id: string; region: string | null }): ProviderAction[] =>
    own.filter(action =>
      action.kind === kind && action.provider_id !== null
        ? action.provider_id === provider_id
        : action.region === region,
    )
}
