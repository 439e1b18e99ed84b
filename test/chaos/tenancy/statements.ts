// Usage that is told and months that are closed, in the model: what a month's statements come to is what its usage shows.
import { unitsIn, usedSeconds } from './lines.ts'
import { usage } from './shown.ts'
import { type Deployment, type Month, monthOf, type Statement, type World } from './world.ts'

const THREE_DAYS = 3 * 24 * 3_600_000

/** So many months ago, at the end of that month; 0: now. */
export const toldAt = (now: number, ago: number): number =>
  ago === 0 ? now : toldAt(monthOf(now).start - 1_000, ago - 1)

/** Nothing is told of a time before the month in which the deployment was made. */
export function tellUsage(world: World, deployment: Deployment, ago: number, units: number): void {
  const at = toldAt(world.now, ago)
  if (at < monthOf(deployment.made).start) return
  world.told.push({ deployment: deployment.id, at, units })
  if (ago > 0) world.late.add(keyOf(deployment, monthOf(at)))
}

const keyOf = ({ id }: Deployment, { period }: Month): string => `${period} ${id}`

export function closeMonths(world: World): void {
  const begun = world.deployments.flatMap(({ terms }) => terms.map(({ from }) => from))
  if (begun.length > 0)
    for (let month = monthOf(world.closedUntil ?? Math.min(...begun)); isDue(world, month); ) {
      for (const deployment of world.deployments.filter(each => isBilled(world, each, month))) {
        world.late.delete(keyOf(deployment, month))
        state(world, deployment, month)
      }
      world.closedUntil = month.end
      month = monthOf(month.end)
    }
  for (const key of world.late) {
    const [period = '', id] = key.split(' ')
    const month = monthOf(Date.parse(`${period}-01`))
    if (world.closedUntil === null || month.end > world.closedUntil) continue
    world.late.delete(key)
    const deployment = world.deployments.find(each => each.id === id)!
    if (deployment.subscription) state(world, deployment, month)
  }
}

const isDue = ({ meteredUntil, now }: World, { end }: Month): boolean =>
  meteredUntil !== null && end <= meteredUntil && end + THREE_DAYS <= now

const isBilled = (world: World, { id, subscription, terms }: Deployment, month: Month): boolean =>
  subscription !== null &&
  (terms.some(({ from, to }) => from < month.end && (to === null || to > Math.max(from, month.start))) ||
    usedSeconds(world, id, month).size > 0 ||
    unitsIn(world, id, month) > 0)

/** What the month comes to now, less what was told of it. */
function state(world: World, deployment: Deployment, month: Month): void {
  const told = statementsOf(world, deployment).filter(({ period }) => period === month.period)
  const total = usage(world, deployment, month).total_cents - told.reduce((sum, { total }) => sum + total, 0)
  const { id, slug } = deployment
  world.statements.push({
    id: `T:${slug}:${month.period}:${told.length + 1}`,
    ...{
      deployment: id,
      period: month.period,
      sequence: told.length + 1,
      adjusts: told[0]?.id ?? null,
      total,
    },
  })
}

export const statementsOf = ({ statements }: World, { id }: Deployment): Statement[] =>
  statements.filter(({ deployment }) => deployment === id)
