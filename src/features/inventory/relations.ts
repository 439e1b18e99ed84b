// What belongs to a resource, step by step, and what would be lost with it.
import { Type } from 'typebox'
import type { Executor } from '../../kernel/db/tables.ts'
import type { Scope } from '../../kernel/http/caller.ts'
import { Id, Nullable } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { type Edge, EFFECTS, lossesOf, RELATION_NAMES } from './relation.ts'
import { listEdges, listRelated, type RelatedRow } from './relation-store.ts'
import { KindName } from './resource.ts'

export const DEEPEST = 3
/** Of a step; a network may hold thousands. */
const MOST_EDGES = 500

const RelatedResource = noun('RelatedResource', {
  id: Id,
  provider_id: Type.String(),
  kind: KindName,
  name: Type.String(),
  region: Nullable(Type.String()),
  status: Nullable(Type.String()),
  tenant_id: Nullable(Type.String()),
  project_id: Nullable(Id),
  deployment_id: Nullable(Id),
  depth: Type.Integer({ description: 'Steps from the resource asked about; 0: itself.' }),
})

export const ResourceRelations = noun('ResourceRelations', {
  resources: Type.Array(RelatedResource, { description: 'The nearest first.' }),
  relations: Type.Array(Type.Object({ from_id: Id, relation: Type.Enum([...RELATION_NAMES]), to_id: Id })),
  losses: Type.Array(Type.Object({ resource_id: Id, effect: Type.Enum([...EFFECTS]), because_of: Id }), {
    description: 'What breaks if the resource goes, and whatever goes with it.',
  }),
  truncated: Type.Boolean({
    description: `More than ${MOST_EDGES} relations in one step: some are left out.`,
  }),
})

/** Undefined when the caller has no such resource, or it is gone. */
export async function relationsOf(executor: Executor, scope: Scope, id: string, depth: number) {
  const depths = new Map([[id, 0]])
  const edges = new Map<string, Edge>()
  let truncated = false
  // One step more than is shown: a load balancer's other backends decide what it loses with one of them.
  for (let step = 1; step <= depth + 1; step++) {
    const frontier = [...depths].filter(([, at]) => at === step - 1).map(([one]) => one)
    if (frontier.length === 0) break
    const found = await listEdges(executor, scope, frontier, MOST_EDGES + 1)
    if (step <= depth && found.length > MOST_EDGES) truncated = true
    for (const edge of found.slice(0, MOST_EDGES)) {
      edges.set(`${edge.from_id} ${edge.relation} ${edge.to_id}`, edge)
      for (const end of [edge.from_id, edge.to_id]) if (!depths.has(end)) depths.set(end, step)
    }
  }
  const near = (one: string) => depths.get(one)! <= depth
  const rows = await listRelated(executor, scope, [...depths.keys()].filter(near))
  if (!rows.some(row => row.id === id)) return undefined
  const all = [...edges.values()]
  return {
    resources: rows
      .map((row): RelatedRow & { depth: number } => ({ ...row, depth: depths.get(row.id)! }))
      .sort((a, b) => a.depth - b.depth || (a.id < b.id ? -1 : 1)),
    relations: all.filter(({ from_id, to_id }) => near(from_id) && near(to_id)),
    losses: lossesOf(id, all).filter(({ resource_id }) => near(resource_id)),
    truncated,
  }
}
