// Metering in tests: resources that come, change hands and go at given moments, and the hours that come of it.
import { sql } from 'kysely'
import { recordGone } from '../../src/features/inventory/index.ts'
import { adjustMonths } from '../../src/features/metering/adjust-months.ts'
import { closeMonths } from '../../src/features/metering/close-months.ts'
import { meterHours } from '../../src/features/metering/jobs.ts'
import type { Kind } from '../../src/integrations/digitalocean/index.ts'
import type { Bundle } from './setup.ts'
import { haveProject, jobPart, see, sightingOf } from './sweep.ts'

/** Meters what is due; how many hours. */
export const meter = ({ ctx }: Bundle): Promise<number> => meterHours(ctx, jobPart())

/** Every hour up to now is metered, and nothing lived in any: for those who look at something else. */
export async function meteredIdle({ ctx, clock }: Bundle): Promise<void> {
  const hour = `${new Date(clock.now().getTime() - 3_600_000).toISOString().slice(0, 13)}:00:00Z`
  await sql`insert into metered_hours (hour, metered_at) values (${hour}, ${clock.now().toISOString()})`.execute(
    ctx.db,
  )
}

/** Closes the months that are due; how many statements. */
export const closeDue = ({ ctx }: Bundle, batchSize?: number): Promise<number> =>
  closeMonths(ctx, jobPart(), batchSize)

/** Adjusts closed months of which events came in late; how many statements. */
export const adjustDue = ({ ctx }: Bundle, batchSize?: number): Promise<number> =>
  adjustMonths(ctx, jobPart(), batchSize)

/** A time of the clock's day, or a whole time. */
function at({ clock }: Bundle, time: string): Date {
  return new Date(time.includes('T') ? time : `${clock.now().toISOString().slice(0, 10)}T${time}Z`)
}

/** The resources are seen at this moment, in a project of the deployment's tenant and tied to it, or tied to none. */
export async function tied(
  bundle: Bundle,
  time: string,
  kind: Kind,
  names: string | string[],
  deploymentId: string | null,
): Promise<void> {
  bundle.clock.set(new Date(at(bundle, time).getTime() - 1000).toISOString())
  const tags = deploymentId === null ? [] : [`deployment:${deploymentId}`]
  if (deploymentId !== null) await place(bundle, kind, [names].flat(), deploymentId)
  await see(
    bundle,
    kind,
    [names].flat().map(provider_id => ({ provider_id, tags })),
  )
}

/** The resources are in a project of the deployment's tenant from the next sighting on. */
export async function place(
  bundle: Bundle,
  kind: Kind,
  ids: string[],
  deploymentId: string,
): Promise<string> {
  const { tenant_id } = await bundle.ctx.db
    .selectFrom('cloud_deployments')
    .select('tenant_id')
    .where('id', '=', deploymentId)
    .executeTakeFirstOrThrow()
  return haveProject(
    bundle,
    `p-${tenant_id}`,
    tenant_id,
    ids.map(id => [kind, id] as [Kind, string]),
    false,
  )
}

/** The resource is found to be gone at this moment. */
export async function gone(bundle: Bundle, time: string, kind: Kind, name: string): Promise<void> {
  bundle.clock.set(at(bundle, time).toISOString())
  await recordGone(bundle.ctx.db, await sightingOf(bundle, kind, 'test'), { providerIds: [name] })
}

/** Everything metered: deployment, hour of the day, kind, seconds, resources. */
export async function usageRows({ ctx }: Bundle): Promise<[string, string, string, number, number][]> {
  const { rows } = await sql<{
    id: string
    hour: string
    kind: string
    seconds: number
    resources: number
  }>`
    select deployment_id as id, to_char(hour at time zone 'UTC', 'HH24:MI') as hour, kind, seconds, resources
    from usage_hours order by usage_hours.hour, deployment_id, kind`.execute(ctx.db)
  return rows.map(({ id, hour, kind, seconds, resources }) => [id, hour, kind, seconds, resources])
}
