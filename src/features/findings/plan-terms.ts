// SQL of what the subscriptions of deployments say now: which version of a plan holds, what it brings in, and what addons add.
import { NOW } from './check.ts'

const holds = (row: string) =>
  `${row}.valid_from <= ${NOW} and (${row}.valid_to is null or ${row}.valid_to > ${NOW})`

/** A row for each deployment with a subscription that is not over. */
export const TERMS_NOW = `
  select s.deployment_id, s.id as subscription_id, v.id as plan_version_id, p.code as plan_code, v.base_price_cents, v.currency,
    t.valid_from as agreed_at
  from subscriptions s join subscription_terms t on t.subscription_id = s.id and ${holds('t')}
  join plan_versions v on v.id = t.plan_version_id join plans p on p.id = v.plan_id
  where s.status <> 'cancelled'`

/** How many of a kind the addons of a subscription add. */
export const addonQuantity = (subscription: string, kind: string): string => `coalesce((
  select sum(a.qty * a.quantity) from subscription_addons a
  where a.subscription_id = ${subscription} and a.resource_kind = ${kind} and ${holds('a')}), 0)`

/** What its addons cost a month, of whatever kind. */
export const addonCents = (subscription: string): string => `coalesce((
  select sum(a.price_cents * a.quantity) from subscription_addons a
  where a.subscription_id = ${subscription} and ${holds('a')}), 0)`

/** A month of 30 days, for prices by the hour and the day. */
const UNITS_OF_A_MONTH = `(values ('hour', 720), ('day', 30), ('month', 1)) u (unit, units)`

/** What one of a kind beyond the plan costs a month by the resource price that holds today, of the shortest unit; null: nothing. */
export const resourceCents = (kind: string, currency: string): string => `(
  select p.price_cents * u.units from resource_prices p join ${UNITS_OF_A_MONTH} using (unit)
  where p.resource_kind = ${kind} and p.currency = ${currency} and p.effective_from <= (${NOW} at time zone 'UTC')::date
    and (p.effective_to is null or p.effective_to > (${NOW} at time zone 'UTC')::date)
  order by u.units desc limit 1)`

/** The same by the plan's own terms, for an item `i` of it; null: they name no price. */
export const OVERAGE_CENTS = `(
  select i.overage_price_cents * u.units from ${UNITS_OF_A_MONTH} where u.unit = i.overage_unit)`
