// Money in the model: which resource a line of an invoice means and whose it was then, and how long resources lived for a
// deployment.
import type { Line, Month, Row, Thing, World } from './world.ts'

interface Asked {
  kind: Thing['kind']
  name: string
  from: number
  until: number
}

const NOBODYS = { resource: null, tenant: null, deployment: null }

/** 1: it lived then. 2: it was not seen, but given up only later. 3: it was not known yet. Null: it was gone. */
function nearness({ firstSeen, lastSeen, deletedAt }: Row, { from, until }: Asked): 1 | 2 | 3 | null {
  if (firstSeen > until) return 3
  if (deletedAt === null || lastSeen >= from) return 1
  return deletedAt >= from ? 2 : null
}

/** Of two of the name that are as near neither is meant. */
export function matchLine(world: World, asked: Asked): Pick<Line, 'resource' | 'tenant' | 'deployment'> {
  const named = world.things.flatMap(thing =>
    thing.kind === asked.kind && thing.row?.name === asked.name
      ? { thing, near: nearness(thing.row, asked), row: thing.row }
      : [],
  )
  const meant = named.find(
    one =>
      one.near !== null &&
      named.every(
        other => other === one || (one.near !== 3 && !(other.near !== null && other.near <= one.near!)),
      ),
  )
  if (!meant) return NOBODYS
  const { thing } = meant
  const { tenant } = thing.hands[indexThen(thing.hands, asked.until, ({ tenant }) => tenant)]!
  const { deployment } = thing.ties[indexThen(thing.ties, asked.until, ({ deployment }) => deployment)]!
  // Of a time before both were known, what they were first may not go together.
  const own = world.deployments.some(({ id, tenant: owner }) => id === deployment && owner === tenant)
  return { resource: thing.id, tenant, deployment: own ? deployment : null }
}

/** What held at the time; of a time before there was anything, the first that was somebody's. */
function indexThen<T extends { at: number }>(
  list: readonly T[],
  at: number,
  whose: (one: T) => string | null,
): number {
  const index = list.findLastIndex(one => one.at <= at)
  if (index >= 0) return index
  return whose(list[0]!) === null && list.length > 1 ? 1 : 0
}

/** Seconds that resources of each kind lived for the deployment, in those hours of the month that are metered. */
export function usedSeconds(world: World, deployment: string, { start, end }: Month): Map<string, number> {
  const used = new Map<string, number>()
  if (world.meteredUntil === null) return used
  for (const { kind, ties, lives } of world.things) {
    const points = [...new Set([...ties, ...lives].map(({ at }) => at))].sort((a, b) => a - b)
    for (const [index, point] of points.entries()) {
      const from = Math.max(point, start)
      const to = Math.min(points[index + 1] ?? Number.POSITIVE_INFINITY, world.meteredUntil, end)
      const tied = ties.findLast(({ at }) => at <= point)?.deployment === deployment
      const alive = lives.findLast(({ at }) => at <= point)?.alive === true
      if (tied && alive && to > from) used.set(kind, (used.get(kind) ?? 0) + (to - from) / 1000)
    }
  }
  return used
}

/** What was told of the deployment's month. */
export const unitsIn = ({ told }: World, deployment: string, { start, end }: Month): number =>
  told
    .filter(each => each.deployment === deployment && each.at >= start && each.at < end)
    .reduce((sum, { units }) => sum + units, 0)

/** Added up for each owner; nobody's is null's. */
export const costsBy = (lines: readonly Line[], owner: 'tenant' | 'deployment') =>
  [...Map.groupBy(lines, line => line[owner])].map(([whose, own]) => ({
    [`${owner}_id`]: whose,
    ...sumOf(own),
  }))

export const sumOf = (lines: readonly Line[]) => ({
  amount_minor: total(lines),
  tax_minor: total(lines.filter(isTaxed)),
})

const total = (lines: readonly Line[]): number => lines.reduce((sum, line) => sum + minorOf(line), 0)

export const minorOf = ({ amount }: Line): number => Math.round(Number(amount) * 100)

/** By its words, whatever it is for. */
export const isTaxed = ({ name }: Line): boolean => name.includes('tax')
