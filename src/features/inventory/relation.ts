// What belongs to what, and what is lost when one end goes: the rules, without a database. Each relation is told by the
// provider's answer for one of its two ends, the one it goes from.

/** What becomes of the other end. */
export const EFFECTS = [
  'destroyed',
  'refuses',
  'loses_last_backend',
  'loses_backend',
  'loses_node',
  'loses_disk',
  'loses_address',
  'loses_traffic',
  'unprotected',
  'cannot_be_rebuilt',
  'detached',
  'unassigned',
  'orphaned',
] as const
export type Effect = (typeof EFFECTS)[number]

interface Rule {
  /** What happens to `from` when `to` goes, and the other way round; null: nothing. */
  toGoes: Effect | null
  fromGoes: Effect | null
}

export const RELATIONS = {
  /** A volume to its droplet. */
  attached_to: { toGoes: 'detached', fromGoes: 'loses_disk' },
  /** A reserved IP to its droplet. */
  assigned_to: { toGoes: 'unassigned', fromGoes: 'loses_address' },
  /** Droplet, load balancer, database or cluster to its VPC, which cannot be deleted before them. */
  in_vpc: { toGoes: 'refuses', fromGoes: null },
  /** A firewall to a droplet it names, or that has a tag of it. */
  protects: { toGoes: null, fromGoes: 'unprotected' },
  /** A load balancer to a droplet it names, or that has its tag. */
  serves: { toGoes: 'loses_backend', fromGoes: 'loses_traffic' },
  /** A snapshot to the droplet or volume it was taken of. */
  snapshot_of: { toGoes: 'orphaned', fromGoes: null },
  /** A droplet to the image or snapshot of the account's that it was made from. */
  made_from: { toGoes: 'cannot_be_rebuilt', fromGoes: null },
  /** A droplet to its Kubernetes cluster. */
  node_of: { toGoes: 'destroyed', fromGoes: 'loses_node' },
} as const satisfies Record<string, Rule>
export type RelationName = keyof typeof RELATIONS
export const RELATION_NAMES = Object.keys(RELATIONS) as RelationName[]

export interface Edge {
  from_id: string
  relation: RelationName
  to_id: string
}

export interface Loss {
  resource_id: string
  effect: Effect
  /** What it is lost with: the resource itself, or one that goes with it. */
  because_of: string
}

/** What would be lost if the resource went, as far as these relations tell: with what goes with it, each once for each cause. */
export function lossesOf(id: string, edges: readonly Edge[]): Loss[] {
  const gone = new Set([id])
  const losses: Loss[] = []
  for (const going of gone) {
    for (const { from_id, relation, to_id } of edges) {
      const { toGoes, fromGoes } = RELATIONS[relation]
      if (to_id === going && toGoes) losses.push({ resource_id: from_id, effect: toGoes, because_of: going })
      if (from_id === going && fromGoes)
        losses.push({ resource_id: to_id, effect: fromGoes, because_of: going })
      if (to_id === going && toGoes === 'destroyed') gone.add(from_id)
    }
  }
  // What goes anyway loses nothing else.
  const left = losses.filter(({ resource_id, effect }) => !gone.has(resource_id) || effect === 'destroyed')
  return left.map(loss =>
    loss.effect === 'loses_backend' && backends(loss.resource_id, edges).every(one => gone.has(one))
      ? { ...loss, effect: 'loses_last_backend' }
      : loss,
  )
}

const backends = (loadBalancer: string, edges: readonly Edge[]): string[] =>
  edges
    .filter(({ from_id, relation }) => relation === 'serves' && from_id === loadBalancer)
    .map(({ to_id }) => to_id)
