// What a plan, its versions and their items look like: in the API, in a catalog file and in the tables. And the rules that
// a schema cannot say: the states of a version, and which items go together.
import { type Static, Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Body, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { extended, jsonOf, noun } from '../../kernel/noun.ts'

/** Sums of thousands of such amounts are still exact. */
const MOST = 1_000_000_000_000
const MOST_ITEMS = 100

export const Code = Type.String({
  pattern: '^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$',
  description: 'Lower-case letters, digits, `-` and `_` inside.',
})
/** Shown on terminals and pages: no control characters, not blank. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})
export const ResourceKind = Type.String({
  maxLength: 63,
  pattern: '^[a-z][a-z0-9_]{0,62}$',
  description:
    'What is sold: a kind of the inventory, a meter, or anything else a plan counts, such as `seats`.',
})
export const Unit = Type.String({
  maxLength: 63,
  pattern: '^[a-z][a-z0-9_-]{0,62}$',
  description: '`hour`, `day` or `month`; for a meter its own unit.',
})
export const Cents = Type.Integer({ minimum: 0, maximum: MOST, description: 'Minor units.' })
export const Quantity = Type.Integer({ minimum: 0, maximum: MOST })
export const Currency = Type.String({ format: 'iso-4217', description: 'ISO 4217.' })

export const CreatePlan = Body({ code: Code, name: Name }, { title: 'CreatePlan' })
export const UpdatePlan = Body({ name: Type.Optional(Name) }, { title: 'UpdatePlan' })

/** What a version costs and includes. */
export const VersionTerms = Body(
  {
    base_price_cents: Cents,
    currency: Currency,
    items: Type.Array(
      Body({
        resource_kind: ResourceKind,
        included_qty: Type.Integer({ ...Quantity, default: 0 }),
        overage_unit: Type.Unsafe<string | null>({ ...Nullable(Unit), default: null }),
        overage_price_cents: Type.Unsafe<number | null>({ ...Nullable(Cents), default: null }),
        hard_cap_qty: Type.Unsafe<number | null>({ ...Nullable(Quantity), default: null }),
      }),
      { maxItems: MOST_ITEMS, default: [], description: 'At most one for a kind.' },
    ),
  },
  { title: 'PlanVersionTerms' },
)
export type VersionTerms = Static<typeof VersionTerms>

export const VERSION_STATES = ['draft', 'active', 'retired'] as const
export type VersionState = (typeof VERSION_STATES)[number]

/** Drafts may also be deleted; that is no move. */
export const VERSION_MOVES = {
  draft: ['active'],
  active: ['retired'],
  retired: [],
} as const satisfies Record<VersionState, readonly VersionState[]>

export const mayMove = (from: VersionState, to: VersionState): boolean =>
  (VERSION_MOVES[from] as readonly VersionState[]).includes(to)

/** What a version costs and includes may be rewritten, or the version deleted, only before it is published. */
export const mayBeRewritten = (state: VersionState): boolean => state === 'draft'

export const PlanItem = noun('PlanItem', {
  resource_kind: Type.String(),
  included_qty: Type.Integer({
    description: 'How much of the kind the base price includes; of a meter in steps of its scale.',
  }),
  overage_unit: Nullable(Type.String({ description: 'What is charged beyond it; null: nothing is.' })),
  overage_price_cents: Nullable(
    Type.Integer({ description: 'For one unit beyond it; of a meter for one step of its scale.' }),
  ),
  hard_cap_qty: Nullable(Type.Integer({ description: 'Never more than this; null: no cap.' })),
})
export type PlanItem = Static<typeof PlanItem>

/** SQL: the items of a row of plan_versions, as JSON. */
export const itemsJson = (version: string): string => `(
  select coalesce(json_agg(${jsonOf(PlanItem, 'i')} order by i.resource_kind), '[]')
  from plan_items i where i.plan_version_id = ${version}.id)`

const ActivePlanVersion = noun(
  'ActivePlanVersion',
  {
    id: Id,
    version: Type.Integer(),
    base_price_cents: Type.Integer(),
    currency: Type.String(),
    status: Type.Enum([...VERSION_STATES]),
    published_at: Nullable(Time),
    items: Type.Array(PlanItem),
  },
  { items: itemsJson('$') },
)

export const PlanVersion = extended('PlanVersion', ActivePlanVersion, {
  plan_code: Type.String(),
  created_at: Time,
  retired_at: Nullable(Time),
})
export type PlanVersion = Static<typeof PlanVersion>

/** As the API shows it: with how many have it, which another feature knows. */
export const ShownPlanVersion = extended('PlanVersion', PlanVersion, {
  subscriptions: Type.Integer({
    description:
      'How many have this version until further notice, those too that change to it on a day to come.',
  }),
})

/** A row of plans, and its active version `v` where it has one. */
export const Plan = noun(
  'Plan',
  { id: Id, code: Type.String(), name: Type.String(), active_version: Nullable(ActivePlanVersion) },
  { active_version: `case when v.id is not null then ${jsonOf(ActivePlanVersion, 'v')} end` },
)

export type PlanRow = Row<'plans'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    plan_versions: { status: VersionState }
  }
}

/** What is wrong among the items; `at` is where the list stands in the document. */
export function itemErrors(items: PlanItem[], at: string): FieldError[] {
  const kinds = new Set<string>()
  return items.flatMap((item, index) => {
    const errors: FieldError[] = []
    const wrong = (field: keyof PlanItem, message: string) =>
      errors.push({ pointer: `${at}/${index}/${field}`, message })
    if (kinds.has(item.resource_kind)) wrong('resource_kind', `${item.resource_kind} has an item already`)
    kinds.add(item.resource_kind)
    if (item.hard_cap_qty !== null && item.hard_cap_qty < item.included_qty)
      wrong('hard_cap_qty', `must not be less than included_qty (${item.included_qty})`)
    if (item.overage_unit !== null && item.overage_price_cents === null)
      wrong('overage_price_cents', 'is required with overage_unit')
    if (item.overage_unit === null && item.overage_price_cents !== null)
      wrong('overage_unit', 'is required with overage_price_cents')
    return errors
  })
}

/** The order of items means nothing. */
export const sortedItems = (items: PlanItem[]): PlanItem[] =>
  items.toSorted((a, b) =>
    a.resource_kind < b.resource_kind ? -1 : a.resource_kind > b.resource_kind ? 1 : 0,
  )

export function sameTerms(a: VersionTerms, b: VersionTerms): boolean {
  return (
    a.base_price_cents === b.base_price_cents &&
    a.currency === b.currency &&
    a.items.length === b.items.length &&
    sortedItems(a.items).every((item, index) => sameItem(item, sortedItems(b.items)[index]!))
  )
}

const ITEM_FIELDS = Object.keys(PlanItem.properties) as (keyof PlanItem)[]

export const sameItem = (a: PlanItem, b: PlanItem): boolean =>
  ITEM_FIELDS.every(field => a[field] === b[field])
