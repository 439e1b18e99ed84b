// The API's words for the catalog.
import { Type } from 'typebox'
import { PageQuery } from '../../kernel/http/pages.ts'
import { Body, Id, Nullable, Query, Time } from '../../kernel/http/schemas.ts'
import { VERSION_STATES } from './version-lifecycle.ts'

/** Sums of thousands of such amounts can still be kept exactly. */
const MOST = 1_000_000_000_000
const MOST_ITEMS = 100

const Code = Type.String({
  pattern: '^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$',
  description: 'Lower-case letters, digits, `-` and `_` inside.',
})
/** Shown on terminals and pages: no control characters, not blank. */
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})
const ResourceKind = Type.String({
  maxLength: 63,
  pattern: '^[a-z][a-z0-9_]{0,62}$',
  description: 'What is sold: a kind of the inventory, or anything else a plan counts, such as `seats`.',
})
const Unit = Type.String({
  maxLength: 63,
  pattern: '^[a-z][a-z0-9_-]{0,62}$',
  description: 'Such as `hour` or `gb_month`.',
})
const Cents = Type.Integer({ minimum: 0, maximum: MOST, description: 'Minor units.' })
const Quantity = Type.Integer({ minimum: 0, maximum: MOST })
const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' })
const Day = Type.String({ format: 'date', pattern: '^[12]\\d{3}-', description: 'YYYY-MM-DD.' })

export const PlanParams = Type.Object({ code: Code })
export const VersionParams = Type.Object({
  code: Code,
  version: Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'The number of the version.' }),
})
export const AddonParams = Type.Object({ code: Code })
export const PriceParams = Type.Object({ id: Id })

const PlanItem = Type.Object({
  resource_kind: Type.String(),
  included_qty: Type.Integer({ description: 'How much of the kind the base price includes.' }),
  overage_unit: Nullable(Type.String({ description: 'What is charged beyond it; null: nothing is.' })),
  overage_price_cents: Nullable(Type.Integer({ description: 'For one unit beyond it.' })),
  hard_cap_qty: Nullable(Type.Integer({ description: 'Never more than this; null: no cap.' })),
})

const versionFields = {
  id: Id,
  version: Type.Integer(),
  base_price_cents: Type.Integer(),
  currency: Type.String(),
  status: Type.Enum([...VERSION_STATES]),
  published_at: Nullable(Time),
  items: Type.Array(PlanItem),
}

const ActiveVersion = Type.Object(versionFields)

export const PlanVersion = Type.Object({
  ...versionFields,
  plan_code: Type.String(),
  created_at: Time,
  retired_at: Nullable(Time),
})

export const Plan = Type.Object({
  id: Id,
  code: Type.String(),
  name: Type.String(),
  active_version: Nullable(ActiveVersion),
})

export const Addon = Type.Object({
  id: Id,
  code: Type.String(),
  name: Type.String(),
  resource_kind: Type.String(),
  qty: Type.Integer({ description: 'How much of the kind one addon adds.' }),
  price_cents: Type.Integer(),
  currency: Type.String(),
  created_at: Time,
  updated_at: Time,
})

export const ResourcePrice = Type.Object({
  id: Id,
  resource_kind: Type.String(),
  unit: Type.String(),
  price_cents: Type.Integer({ description: 'For one unit.' }),
  currency: Type.String(),
  effective_from: Type.String({ format: 'date', description: 'The first day it holds.' }),
  effective_to: Nullable(
    Type.String({
      format: 'date',
      description: 'The first day it no longer holds; null: until further notice.',
    }),
  ),
  created_at: Time,
})

export const CreatePlanBody = Body({ code: Code, name: Name })
export const RenamePlanBody = Body({ name: Type.Optional(Name) })

export const VersionBody = Body({
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
})

const addonFields = {
  name: Type.Optional(Type.String({ ...Name, description: 'Default: the code.' })),
  resource_kind: ResourceKind,
  qty: Type.Integer({ ...Quantity, minimum: 1 }),
  price_cents: Cents,
}

export const CreateAddonBody = Body({
  code: Code,
  ...addonFields,
  currency: Type.String({ ...Currency, default: 'USD' }),
})

export const ChangeAddonBody = Body({
  name: Type.Optional(Name),
  resource_kind: Type.Optional(ResourceKind),
  qty: Type.Optional(addonFields.qty),
  price_cents: Type.Optional(Cents),
  currency: Type.Optional(Currency),
})

export const AddPriceBody = Body({
  resource_kind: ResourceKind,
  unit: Unit,
  price_cents: Cents,
  currency: Currency,
  effective_from: Day,
  effective_to: Type.Unsafe<string | null>({ ...Nullable(Day), default: null }),
})

export const EndPriceBody = Body({ effective_to: Type.Optional(Nullable(Day)) })

export const PricesQuery = Query({
  ...PageQuery,
  resource_kind: Type.Optional(ResourceKind),
  unit: Type.Optional(Unit),
  currency: Type.Optional(Currency),
  on: Type.Optional(Type.String({ ...Day, description: 'Only prices that hold on this day.' })),
})
