// All SQL of subscriptions, of the terms they had, have and will have, and of their addons.
import { sql } from 'kysely'
import { auditedTable, entryInStatement } from '../../kernel/audit.ts'
import { runStatement } from '../../kernel/db/statement.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { newId } from '../../kernel/ids.ts'
import { jsonOf } from '../../kernel/noun.ts'
import { itemsJson, type PlanItem } from '../catalog/index.ts'
import {
  ScheduledVersion,
  Subscription,
  SubscriptionAddon,
  type SubscriptionAddonRow,
  type SubscriptionRow,
  type SubscriptionStatus,
  type SubscriptionTermsRow,
} from './subscription.ts'
import { endAt, isVoid, type SubscriptionTerms } from './terms.ts'

const SUBSCRIPTIONS = auditedTable('subscriptions', { key: ['id'], silent: ['updated_at'] })
const ADDONS = auditedTable('subscription_addons', { key: ['id'] })

const TERMS = auditedTable('subscription_terms', { key: ['id'] })

/** SQL: the version that holds at a time; before there is one the first, and after the end the last. */
const versionAt = (subscription: string, at: string): string => `
  select t.plan_version_id from subscription_terms t
  where t.subscription_id = ${subscription} and (t.valid_to is null or t.valid_to > t.valid_from)
  order by t.valid_from <= ${at} desc, case when t.valid_from <= ${at} then t.valid_from end desc, t.valid_from limit 1`

/** SQL: the subscription of a deployment as JSON, as it is at a time. */
export const SUBSCRIPTION_OF_DEPLOYMENT = (deploymentId: string, at: string): string => {
  const addons = (condition: string, order: string) =>
    `coalesce(json_agg(${jsonOf(SubscriptionAddon, 'a')} order by ${order}) filter (where ${condition}), '[]')`
  const shown = {
    plan_version_id: 'v.id',
    addons: 'a.now',
    scheduled_versions: `(
      select coalesce(json_agg(${jsonOf(ScheduledVersion, 't')} order by t.valid_from), '[]')
      from subscription_terms t join plan_versions sv on sv.id = t.plan_version_id join plans sp on sp.id = sv.plan_id
      where t.subscription_id = s.id and t.valid_from > ${at} and (t.valid_to is null or t.valid_to > t.valid_from))`,
    scheduled_addons: 'a.scheduled',
  }
  return `
  select ${jsonOf(Subscription, 's', shown)} from subscriptions s
  join plan_versions v on v.id = coalesce((${versionAt('s.id', at)}), s.plan_version_id)
  join plans p on p.id = v.plan_id
  cross join lateral (
    select ${addons(`a.valid_from <= ${at} and (a.valid_to is null or a.valid_to > ${at})`, 'a.code')} as now,
      ${addons(`a.valid_from > ${at}`, 'a.valid_from, a.code')} as scheduled
    from subscription_addons a where a.subscription_id = s.id and (a.valid_to is null or a.valid_to > a.valid_from)) a
  where s.deployment_id = ${deploymentId}`
}

/** SQL, for plan_versions `v`: what a version is shown with. */
export const versionMembers = {
  subscriptions: `(select count(*)::int from subscription_terms t where t.plan_version_id = v.id and t.valid_to is null)`,
}

export async function insertSubscription(
  tx: Executor,
  subscription: SubscriptionRow,
  addons: SubscriptionAddonRow[],
  from: string,
): Promise<void> {
  await SUBSCRIPTIONS.insert(tx, [subscription])
  await beginTerms(tx, subscription.id, subscription.plan_version_id, from)
  await insertAddons(tx, addons)
}

export const insertAddons = async (tx: Executor, addons: SubscriptionAddonRow[]): Promise<void> => {
  await ADDONS.insert(tx, addons)
}

const SHOW = {
  name: 'subscription_show',
  text: `select json::text as json from (${SUBSCRIPTION_OF_DEPLOYMENT('$1::uuid', '$2::timestamptz')}) as s (json)`,
}

/** The subscription as JSON text, as it is at a time. */
export async function subscriptionJson(
  executor: Executor,
  deploymentId: string,
  at: string,
): Promise<string | undefined> {
  const values = [deploymentId, at]
  return (await runStatement<{ json: string }>(executor, SHOW, values))[0]?.json
}

export interface Entitlement {
  /** What the plan version says of the kind; null: nothing. */
  item: PlanItem | null
  /** What the addons of the kind add. */
  addon_qty: number
}

/** What the deployment's subscription gives it of a kind at a time; undefined without a subscription. */
export async function findEntitlement(
  executor: Executor,
  deploymentId: string,
  resourceKind: string,
  at: string,
): Promise<Entitlement | undefined> {
  const { rows } = await sql<Entitlement>`
    select case when i.resource_kind is not null then to_json(i) end as item,
      (select coalesce(sum(a.qty * a.quantity), 0)::bigint from subscription_addons a
       where a.subscription_id = s.id and a.valid_from <= ${at} and (a.valid_to is null or a.valid_to > ${at})
         and a.resource_kind = ${resourceKind}) as addon_qty
    from subscriptions s
    left join lateral (
      select t.plan_version_id from subscription_terms t
      where t.subscription_id = s.id and t.valid_from <= ${at} and (t.valid_to is null or t.valid_to > t.valid_from)
      order by t.valid_from desc limit 1) t on true
    left join plan_items i on i.plan_version_id = t.plan_version_id and i.resource_kind = ${resourceKind}
    where s.deployment_id = ${deploymentId}`.execute(executor)
  return rows[0]
}

export function lockSubscription(tx: Executor, deploymentId: string): Promise<SubscriptionRow | undefined> {
  return tx
    .selectFrom('subscriptions')
    .selectAll()
    .where('deployment_id', '=', deploymentId)
    .forUpdate()
    .executeTakeFirst()
}

/** Of all that hold at a time or later. */
export async function addonCurrencies(tx: Executor, subscriptionId: string, at: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('subscription_addons')
    .select('currency')
    .distinct()
    .where('subscription_id', '=', subscriptionId)
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]))
    .execute()
  return rows.map(row => row.currency)
}

/** In the order of time, those too that never held. */
export const listTerms = (tx: Executor, subscriptionId: string): Promise<SubscriptionTermsRow[]> =>
  tx
    .selectFrom('subscription_terms')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .orderBy('valid_from')
    .orderBy('id')
    .execute()

/** The version in force at a time. */
export async function versionInForce(tx: Executor, subscriptionId: string, at: string): Promise<string> {
  const text = versionAt('$1::uuid', '$2::timestamptz')
  const values = [subscriptionId, at]
  const [row] = await runStatement<{ plan_version_id: string }>(
    tx,
    { name: 'version_in_force', text },
    values,
  )
  return row!.plan_version_id
}

/** From a time on the subscription has the other version's terms, whatever was to hold then. */
export async function setPlanVersion(
  tx: Executor,
  id: string,
  planVersionId: string,
  from: string,
): Promise<void> {
  await endTerms(tx, id, from)
  await beginTerms(tx, id, planVersionId, from)
}

/** Its row says what held when it was last written; what holds is in its terms. */
export async function noteVersion(
  tx: Executor,
  id: string,
  planVersionId: string,
  at: string,
): Promise<void> {
  await SUBSCRIPTIONS.update(tx, { id }, { plan_version_id: planVersionId, updated_at: at })
}

export function findAddon(
  tx: Executor,
  subscriptionId: string,
  id: string,
): Promise<SubscriptionAddonRow | undefined> {
  return tx
    .selectFrom('subscription_addons')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function endAddon(tx: Executor, id: string, valid_to: string): Promise<void> {
  await ADDONS.update(tx, { id }, { valid_to })
}

/**
 * SQL: the subscriptions of `deployments` take a status, unless it is null; one that is cancelled stays so. Part of the move's own
 * statement, with the entries of the audit log, whose parameters begin at `first`. The move's lock is taken before theirs.
 */
export function following(deployments: string, status: string, at: string, first: number) {
  const known = {
    subject_id: 'f.id::text',
    before: `jsonb_build_object('status', f.was)`,
    after: `jsonb_build_object('status', f.status)`,
  }
  const entry = entryInStatement(first, known, 'followed f')
  return {
    sql: `subscribed as (
      select s.id, s.status from ${deployments} d join subscriptions s on s.deployment_id = d.id
      where s.status not in ('cancelled', ${status}::text) for no key update of s
    ), followed as (
      update subscriptions s set status = ${status}::text, updated_at = ${at} from subscribed u where s.id = u.id
      returning s.id, s.status, u.status as was
    ), followed_entry as (${entry.sql})`,
    values: () => entry.values('updated', { subjectType: SUBSCRIPTIONS.table }),
  }
}

const FOLLOWING = following('(select $1::uuid as id)', '$2', '$3', 4)
const FOLLOW = {
  name: 'subscription_follow',
  text: `with ${FOLLOWING.sql} select id from followed`,
}

/**
 * A deployment's move pauses, resumes or cancels its subscription. `followed` is the one that the move's own statement found
 * and changed. A subscription that was being made while the move waited is not seen there, only by a statement after it.
 */
export async function followDeployment(
  tx: Executor,
  deploymentId: string,
  status: SubscriptionStatus,
  at: string,
  followed: string | null,
): Promise<void> {
  const late = async () =>
    (await runStatement<{ id: string }>(tx, FOLLOW, [deploymentId, status, at, ...FOLLOWING.values()]))[0]?.id
  const id = followed ?? (await late())
  if (id && status === 'cancelled') await endTerms(tx, id, at)
}

const beginTerms = (tx: Executor, subscription_id: string, plan_version_id: string, valid_from: string) =>
  TERMS.insert(tx, [{ id: newId(), subscription_id, plan_version_id, valid_from, valid_to: null }])

/** From a time on no terms hold. */
async function endTerms(tx: Executor, subscriptionId: string, at: string): Promise<void> {
  for (const row of await listTerms(tx, subscriptionId)) {
    const valid_to = endAt(row, at)
    if (!isVoid(row) && valid_to !== row.valid_to) await TERMS.update(tx, { id: row.id }, { valid_to })
  }
}

export interface Period {
  current_period_start: string
  current_period_end: string
}

/**
 * Every period that has ended becomes the current one, however many were missed: of one tenant, or of all but those under a
 * test clock.
 */
export async function rollOver(
  executor: Executor,
  period: Period,
  at: string,
  tenantId: string | null = null,
): Promise<number> {
  const isAsked = sql<boolean>`exists (
    select from cloud_deployments d where d.id = subscriptions.deployment_id and case when ${tenantId}::text is null
      then not exists (select from test_clocks c where c.tenant_id = d.tenant_id and c.ended_at is null)
      else d.tenant_id = ${tenantId} end)`
  const moved = await SUBSCRIPTIONS.update(
    executor,
    query =>
      query
        .where('current_period_end', '<', period.current_period_start)
        .where('status', '!=', 'cancelled')
        .where(isAsked),
    { ...period, updated_at: at },
  )
  return moved.length
}

/** Only of deployments that had any terms, or will have, within the stretch; whatever became of the subscription since. */
export async function findTerms(
  executor: Executor,
  deploymentIds: string[],
  { from, to }: { from: string; to: string },
): Promise<SubscriptionTerms[]> {
  const overlaps = (row: string) => sql`${sql.ref(`${row}.valid_from`)} < ${to} and (
    ${sql.ref(`${row}.valid_to`)} is null or ${sql.ref(`${row}.valid_to`)} > greatest(${sql.ref(`${row}.valid_from`)}, ${from}))`
  const { rows } = await sql<SubscriptionTerms>`
    select s.id as subscription_id, s.deployment_id, s.trial_ends_at, t.currency, t.versions,
      (select coalesce(json_agg(${sql.raw(jsonOf(SubscriptionAddon, 'a'))} order by a.code, a.valid_from), '[]')
        from subscription_addons a where a.subscription_id = s.id and ${overlaps('a')}) as addons
    from subscriptions s
    cross join lateral (
      select max(v.currency) as currency, json_agg(json_build_object('plan_code', p.code, 'plan_version_id', v.id,
        'base_price_cents', v.base_price_cents, 'items', ${sql.raw(itemsJson('v'))}, 'valid_from', iso8601(t.valid_from),
        'valid_to', iso8601(t.valid_to)) order by t.valid_from) as versions
      from subscription_terms t
      join plan_versions v on v.id = t.plan_version_id join plans p on p.id = v.plan_id
      where t.subscription_id = s.id and ${overlaps('t')}) t
    where t.versions is not null and s.deployment_id = any(${deploymentIds}::uuid[])`.execute(executor)
  return rows
}
