// What an operator does with the catalog. A published version never changes, and of a price nothing but its end.
import type { Deps } from '../../deps.ts'
import { violatedConstraint } from '../../kernel/db/errors.ts'
import type { Executor } from '../../kernel/db/tables.ts'
import { transaction } from '../../kernel/db/transaction.ts'
import { conflict, type FieldError, invalid, notFound } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { type MeterRow, meterErrors, type NewMeter, unitErrors, unmeasured } from './meter.ts'
import {
  itemErrors,
  mayBeRewritten,
  mayMove,
  type PlanRow,
  type PlanVersion,
  type VersionTerms,
} from './plan.ts'
import {
  type AddonRow,
  type AddonUpdate,
  type NewAddon,
  type PriceTerms,
  periodErrors,
  type ResourcePriceRow,
  subjectOf,
} from './price.ts'
import {
  ADDONS,
  activate,
  deleteDraftRow,
  findAddons,
  findMeters,
  findPrice,
  findVersion,
  findVersionNumbered,
  insertDraft,
  listPricesOf,
  lockPlan,
  lockSubject,
  METERS,
  PLANS,
  PRICES,
  retireActive,
  rewriteDraft,
  takeVersionNumber,
} from './store.ts'

type Needed = Pick<Deps, 'db' | 'clock'>

export async function createPlan(
  { db, clock }: Needed,
  { code, name }: { code: string; name: string },
): Promise<PlanRow> {
  const plan = { id: newId(), code, name, last_version: 0, created_at: clock.now().toISOString() }
  try {
    return (await PLANS.insert(db, [plan]))[0]!
  } catch (error) {
    if (violatedConstraint(error) !== 'plans_code') throw error
    throw conflict('plan_code_taken', `There is a plan ${code} already.`, { cause: error })
  }
}

export async function renamePlan({ db }: Needed, code: string, name: string): Promise<void> {
  if ((await PLANS.update(db, { code }, { name })).length === 0) throw notFound()
}

/** A draft. Its number is one more than the last given out, also when that draft was deleted. */
export function createPlanVersion(
  { db, clock }: Needed,
  planCode: string,
  terms: VersionTerms,
): Promise<PlanVersion> {
  refuse(itemErrors(terms.items, '/items'))
  return transaction(db, async tx => {
    await refuseUnmeasured(tx, terms)
    const plan = await takeVersionNumber(tx, planCode)
    if (!plan) throw notFound()
    const id = newId()
    const created_at = clock.now().toISOString()
    await insertDraft(tx, { id, plan_id: plan.id, version: plan.last_version, created_at }, terms)
    return (await findVersion(tx, id))!
  })
}

/** Its price and items are replaced as a whole. */
export function replaceDraft(
  { db }: Needed,
  planCode: string,
  version: number,
  terms: VersionTerms,
): Promise<PlanVersion> {
  refuse(itemErrors(terms.items, '/items'))
  return transaction(db, async tx => {
    const draft = await lockDraft(tx, planCode, version)
    await refuseUnmeasured(tx, terms)
    if (!(await rewriteDraft(tx, draft.id, terms))) throw notADraft(draft)
    return (await findVersion(tx, draft.id))!
  })
}

/** A unit that nothing measures would never be charged. */
const refuseUnmeasured = async (tx: Executor, { items }: VersionTerms) =>
  refuse(unitErrors(items, await findMeters(tx), '/items'))

export function deleteDraft({ db }: Needed, planCode: string, version: number): Promise<void> {
  return transaction(db, async tx => {
    const draft = await lockDraft(tx, planCode, version)
    if (!(await deleteDraftRow(tx, draft.id))) throw notADraft(draft)
  })
}

/** With its plan locked, so that it cannot be published meanwhile. */
async function lockDraft(tx: Executor, planCode: string, version: number): Promise<PlanVersion> {
  await lockPlan(tx, planCode)
  const found = await findVersionNumbered(tx, planCode, version)
  if (!found) throw notFound()
  if (!mayBeRewritten(found.status)) throw notADraft(found)
  return found
}

const notADraft = ({ plan_code, version, status }: PlanVersion) =>
  conflict(
    'not_a_draft',
    `Version ${version} of ${plan_code} is ${status}; a published version never changes. Make a new one.`,
  )

/**
 * The draft becomes active and the version that was active retires, in one transaction. The lock on the plan makes
 * publishers take turns, and subscribers see the version before or the one after, never neither.
 */
export function publishPlanVersion(
  { db, clock }: Needed,
  planCode: string,
  version: number,
): Promise<PlanVersion> {
  return transaction(db, async tx => {
    const plan = await lockPlan(tx, planCode)
    const found = await findVersionNumbered(tx, planCode, version)
    if (!plan || !found) throw notFound()
    if (!mayMove(found.status, 'active')) throw notPublishable(found)
    const at = clock.now().toISOString()
    await retireActive(tx, plan.id, at)
    if (!(await activate(tx, found.id, at))) throw notPublishable(found)
    return (await findVersion(tx, found.id))!
  })
}

const notPublishable = ({ plan_code, version, status }: PlanVersion) =>
  status === 'active'
    ? conflict('already_active', `Version ${version} of ${plan_code} is the active one already.`)
    : conflict(
        'version_retired',
        `Version ${version} of ${plan_code} is retired and stays so. Make a new version with its terms.`,
      )

export async function createAddon({ db, clock }: Needed, terms: NewAddon): Promise<AddonRow> {
  const at = clock.now().toISOString()
  const addon = { id: newId(), ...terms, name: terms.name ?? terms.code, created_at: at, updated_at: at }
  try {
    return (await ADDONS.insert(db, [addon]))[0]!
  } catch (error) {
    if (violatedConstraint(error) !== 'addons_code') throw error
    throw conflict('addon_code_taken', `There is an addon ${terms.code} already.`, { cause: error })
  }
}

/** What was attached to a subscription before keeps the price and quantity it had. */
export async function updateAddon(
  { db, clock }: Needed,
  code: string,
  changes: AddonUpdate,
): Promise<AddonRow> {
  const [addon] =
    Object.keys(changes).length === 0
      ? await findAddons(db, [code])
      : await ADDONS.update(db, { code }, { ...changes, updated_at: clock.now().toISOString() })
  if (!addon) throw notFound()
  return addon
}

/** What counts and by what scale stays for good; only its name may change. */
export async function createMeter({ db, clock }: Needed, terms: NewMeter): Promise<MeterRow> {
  refuse(meterErrors(terms, ''))
  const meter = { ...terms, name: terms.name ?? terms.code, created_at: clock.now().toISOString() }
  try {
    return (await METERS.insert(db, [meter]))[0]!
  } catch (error) {
    if (violatedConstraint(error) !== 'meters_pkey') throw error
    throw conflict('meter_code_taken', `There is a meter ${terms.code} already.`, { cause: error })
  }
}

export async function renameMeter({ db }: Needed, code: string, name?: string): Promise<MeterRow> {
  const [meter] =
    name === undefined ? await findMeters(db, [code]) : await METERS.update(db, { code }, { name })
  if (!meter) throw notFound()
  return meter
}

/** All prices of a kind in a currency, before a change and after it. */
export interface PriceChange {
  resource_kind: string
  currency: string
  before: ResourcePriceRow[]
  after: ResourcePriceRow[]
}

/** Refuses a change by throwing. Who charges by the prices knows the catalog, not the catalog them: app.ts hands it in. */
export type PriceGuard = (tx: Executor, change: PriceChange) => Promise<void>

/** Of one kind, unit and currency, no two prices hold on one day. */
export async function addResourcePrice(
  { db, clock }: Needed,
  guard: PriceGuard,
  terms: PriceTerms,
): Promise<ResourcePriceRow> {
  refuse(periodErrors(terms, ''))
  const message = unmeasured(terms.resource_kind, terms.unit, await findMeters(db, [terms.resource_kind]))
  if (message !== undefined) refuse([{ pointer: '/unit', message }])
  const price = { id: newId(), ...terms, created_at: clock.now().toISOString() }
  return changePrices(db, guard, price, async tx => (await PRICES.insert(tx, [price]))[0]!)
}

/** Sets or moves its end, so that another can follow. */
export async function endResourcePrice(
  { db }: Needed,
  guard: PriceGuard,
  id: string,
  effectiveTo: string | null | undefined,
): Promise<ResourcePriceRow> {
  const price = await findPrice(db, id)
  if (!price) throw notFound()
  if (effectiveTo === undefined) return price
  refuse(periodErrors({ ...price, effective_to: effectiveTo }, ''))
  return changePrices(db, guard, price, async tx => {
    const [ended] = await PRICES.update(tx, { id }, { effective_to: effectiveTo })
    if (!ended) throw notFound()
    return ended
  })
}

async function changePrices(
  db: Executor,
  guard: PriceGuard,
  price: PriceTerms,
  change: (tx: Executor) => Promise<ResourcePriceRow>,
): Promise<ResourcePriceRow> {
  const { resource_kind, currency } = price
  try {
    return await transaction(db, async tx => {
      await lockSubject(tx, price)
      const before = await listPricesOf(tx, price)
      const changed = await change(tx)
      await guard(tx, { resource_kind, currency, before, after: await listPricesOf(tx, price) })
      return changed
    })
  } catch (error) {
    if (violatedConstraint(error) !== 'resource_prices_no_overlap') throw error
    const message = `Another price of ${subjectOf(price)} holds in that time. End it first.`
    throw conflict('price_overlap', message, { cause: error })
  }
}

function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw invalid('The body is not acceptable.', errors)
}
