// What belongs to a resource, in the model: volumes are attached to droplets, and both must be there for the caller to see it.
import { attachedTo } from './provider.ts'
import { sees } from './rules.ts'
import type { Caller, Thing, World } from './world.ts'

export function relationsOf(world: World, caller: Caller, thing: Thing) {
  const there = world.things.filter(
    ({ row }) => row !== null && row.deletedAt === null && sees(world, caller, row.tenant),
  )
  if (!there.includes(thing)) return undefined
  const names = (volume: Thing, droplet: Thing) =>
    volume.kind === 'volume' &&
    droplet.kind === 'droplet' &&
    attachedTo(volume.provider_id).includes(Number(droplet.provider_id))
  const others = there.filter(other => names(thing, other) || names(other, thing))
  const isVolume = thing.kind === 'volume'
  return {
    resources: [thing, ...others].map(related),
    relations: others.map(other => ({
      from_id: (isVolume ? thing : other).id,
      relation: 'attached_to',
      to_id: (isVolume ? other : thing).id,
    })),
    losses: others.map(other => ({
      resource_id: other.id,
      effect: isVolume ? 'loses_disk' : 'detached',
      because_of: thing.id,
    })),
    truncated: false,
  }
}

const related = ({ id, provider_id, kind, row }: Thing, step: number) => ({
  id,
  provider_id,
  kind,
  name: row!.name,
  region: 'nyc3',
  status: kind === 'droplet' ? 'active' : null,
  tenant_id: row!.tenant,
  project_id: row!.project,
  deployment_id: row!.deployment,
  depth: Math.min(step, 1),
})
