// The inventory as it was, in the model: at a moment, and between two.
import { isDeepStrictEqual } from 'node:util'
import { FIELDS } from './inventory-steps.ts'
import { seesAll } from './rules.ts'
import { resourceRow } from './shown.ts'
import { type Caller, iso, type Row, type Thing, type World } from './world.ts'

/** When things changed hands or otherwise: some of the times, and the last moment before each. */
export function moments({ things }: World): number[] {
  const times = [...new Set(things.flatMap(({ past }) => past.map(({ at }) => at)))].sort((a, b) => a - b)
  return [0.4, 0.8]
    .flatMap(part => times.at(Math.floor(times.length * part)) ?? [])
    .flatMap(at => [at, at - 1])
}

const pastAt = ({ past }: Thing, at: number) => past.findLast(one => one.at <= at)

const isOwn = (world: World, caller: Caller, row: Row | undefined): row is Row =>
  row !== undefined && (seesAll(world, caller) || row.tenant === caller.tenant)

export const inventoryAt = (world: World, caller: Caller, at: number) =>
  world.things.flatMap(thing => {
    const then = pastAt(thing, at)
    if (!isOwn(world, caller, then?.row)) return []
    const { lastSeen, strikes, missingSince } = thing.row!
    const isLast = then === thing.past.at(-1)
    const row = {
      ...then!.row,
      lastSeen: Math.min(lastSeen, at),
      strikes: isLast && lastSeen <= at ? strikes : 0,
      missingSince: isLast && missingSince !== null && missingSince <= at ? missingSince : null,
    }
    return [resourceRow({ ...thing, row })]
  })

export const changesBetween = (world: World, caller: Caller, from: number, to: number) =>
  world.things.flatMap(thing => {
    const living = (at: number): Row | null => {
      const row = pastAt(thing, at)?.row
      return isOwn(world, caller, row) && row.deletedAt === null ? row : null
    }
    const [before, after] = [living(from), living(to)]
    const row = after ?? before
    if (row === null) return []
    const changes = Object.entries(FIELDS)
      .filter(([, field]) => !isDeepStrictEqual(before?.[field], after?.[field]))
      .map(([name, field]) => [name, { before: before?.[field], after: after?.[field] }])
    if (changes.length === 0) return []
    const both = before !== null && after !== null
    return [
      {
        resource_id: thing.id,
        provider_id: thing.provider_id,
        kind: thing.kind,
        name: row.name,
        region: 'nyc3',
        tenant_id: row.tenant,
        project_id: row.project,
        deployment_id: row.deployment,
        change: both ? 'changed' : before === null ? 'added' : 'gone',
        changed_at: iso(lastChange(world, caller, thing, to)),
        changes: both ? Object.fromEntries(changes) : null,
      },
    ]
  })

/** When it last changed for the caller: what came after it had left is not the caller's to know. */
function lastChange(world: World, caller: Caller, { past }: Thing, to: number): number {
  const until = past.filter(({ at }) => at <= to)
  const held = until.filter((one, n) => until[n + 1]?.at !== one.at)
  const last = held.findLastIndex(({ row }) => isOwn(world, caller, row))
  return (held[last + 1] ?? held[last]!).at
}
