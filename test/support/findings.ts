// Findings in tests: resources as the provider answers them, a run of the checks, and what they found.
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { CHECKS } from '../../src/features/findings/checks/index.ts'
import { findAll } from '../../src/features/findings/find.ts'
import type { Finding as FindingNoun } from '../../src/features/findings/finding.ts'
import { seenResource } from '../../src/features/inventory/seen-resource.ts'
import { rehome } from '../../src/features/inventory/write-resources.ts'
import { writeAllSeen } from '../../src/features/inventory/write-seen.ts'
import { type Kind, mapItem, type RawItem } from '../../src/integrations/digitalocean/index.ts'
import { transaction } from '../../src/kernel/db/transaction.ts'
import { eventually } from './eventually.ts'
import type { Bundle } from './setup.ts'
import { haveProject, jobPart, rowOf, sightingOf } from './sweep.ts'

export type Finding = Static<typeof FindingNoun>

/** These items, as the provider lists them, are seen now: what a sweep would write, without a provider behind it. */
export async function seeItems(bundle: Bundle, kind: Kind, items: RawItem[]): Promise<void> {
  const seen = items.map(item => seenResource(mapItem(kind, item)))
  await writeAllSeen(bundle.ctx.db, await sightingOf(bundle, kind), seen)
}

/** A project of the tenant holds these, and nothing else of what it held before; everything is re-homed as a sweep would. */
export async function giveTo(
  bundle: Bundle,
  tenantId: string,
  holds: [Kind, string | number][],
): Promise<void> {
  await haveProject(
    bundle,
    `project of ${tenantId}`,
    tenantId,
    holds.map(([kind, id]) => [kind, String(id)]),
  )
  const at = bundle.clock.now().toISOString()
  await transaction(bundle.ctx.db, tx => rehome(tx, at, 'sync:test'))
}

/** What a size is listed for a month, so that droplets of it have a price. */
export async function haveSizePrice({ ctx, clock }: Bundle, slug: string, monthly: string): Promise<void> {
  const at = clock.now().toISOString()
  await sql`
    insert into cloud_sizes (provider, slug, vcpus, memory_mb, disk_gb, transfer_tb, price_monthly, price_hourly, currency,
      regions, available, first_seen_at, last_seen_at)
    values ('digitalocean', ${slug}, 1, 1024, 25, 1, ${monthly}, 0.01, 'USD', '{nyc3}', true, ${at}, ${at})`.execute(
    ctx.db,
  )
  await sql`
    insert into cloud_size_prices (provider, slug, valid_from, price_monthly, price_hourly, currency)
    values ('digitalocean', ${slug}, ${at}, ${monthly}, 0.01, 'USD')`.execute(ctx.db)
}

/** Runs the checks, all or some by their names; none of them fails. */
export async function find({ ctx }: Bundle, ...names: string[]) {
  const checks = CHECKS.filter(({ name }) => names.length === 0 || names.includes(name))
  if (names.length > 0) assert.equal(checks.length, names.length, `one of these is no check: ${names}`)
  const { failed, ...found } = await findAll(ctx, jobPart(), checks)
  if (failed > 0) {
    const { rows } = await sql`select check_name, error from finding_checks where error is not null`.execute(
      ctx.db,
    )
    assert.fail(JSON.stringify(rows))
  }
  return found
}

/** Waits until the run that the sweep of this moment has asked for is over; its record. */
export const whenFound = ({ call, clock }: Pick<Bundle, 'call' | 'clock'>) =>
  eventually('the checks have run after the sweep', async () => {
    const { body } = await call('GET', '/api/v1/admin/scheduled_tasks/findings/runs?limit=1')
    const [run] = body.data
    return run?.status === 'completed' && run.started_at === clock.now().toISOString() && run
  })

/** Findings as the API lists them; `query` begins with `&`. */
export async function findingsOf({ call }: Bundle, query = '', token?: string): Promise<Finding[]> {
  const { status, body, text } = await call('GET', `/api/v1/findings?limit=500${query}`, { token })
  assert.equal(status, 200, text)
  return body.data
}

/** Runs one check and says what it found: the resource's name, or the subject, and what it costs a month. In order. */
export async function foundBy(
  bundle: Bundle,
  check: string,
): Promise<[about: string, monthlyCost: string][]> {
  await find(bundle, check)
  const found = await findingsOf(bundle, `&check=${check}`)
  return found
    .map(({ resource, subject, monthly_cost }): [string, string] => [resource?.name ?? subject, monthly_cost])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The one finding of a check about a resource, by what the provider calls it. */
export async function findingOf(
  bundle: Bundle,
  check: string,
  kind: Kind,
  providerId: string | number,
): Promise<Finding> {
  const { id } = await rowOf(bundle, kind, providerId)
  const [finding, ...more] = await findingsOf(bundle, `&check=${check}&resource_id=${id}`)
  assert.ok(finding, `${check} has found nothing of ${kind} ${providerId}`)
  assert.deepEqual(more, [])
  return finding
}
