// What the model knows: who there is, whose things are, and what has become of them. Rows name each other by symbols
// (`D:d1`, `R:9001`, `P:prj-1`), which the comparison puts in the place of ids.

export const PLATFORM = 'platform'
export const TENANTS = ['acme', 'bolt'] as const

export interface Caller {
  name: string
  sub: string
  /** Null: a platform_admin whose token names none. */
  tenant: string | null
  role: string
  via: 'token' | 'key'
}

/** Whoever holds a role that is registered may do what it permits; `member` is not registered and permits all. */
export const CAST: readonly Caller[] = [
  { name: 'admin', sub: 'ada', tenant: null, role: 'platform_admin', via: 'token' },
  { name: 'ann', sub: 'ann', tenant: 'acme', role: 'member', via: 'token' },
  { name: 'bob', sub: 'bob', tenant: 'bolt', role: 'member', via: 'token' },
  { name: 'ray', sub: 'ray', tenant: 'acme', role: 'reader', via: 'token' },
  { name: 'pat', sub: 'pat', tenant: PLATFORM, role: 'member', via: 'token' },
  { name: 'op-billing', sub: 'bea', tenant: PLATFORM, role: 'billing-operator', via: 'token' },
  { name: 'op-inventory', sub: 'ivo', tenant: PLATFORM, role: 'inventory-operator', via: 'token' },
  { name: 'op-deployments', sub: 'dee', tenant: PLATFORM, role: 'deployment-operator', via: 'token' },
]

export const ROLES: Readonly<Record<string, readonly string[]>> = {
  reader: ['deployments:read', 'inventory:read'],
  'billing-operator': ['billing:read'],
  'inventory-operator': ['drift:accept', 'drift:read', 'inventory:read', 'inventory:write'],
  'deployment-operator': [
    'deployments:operate',
    'deployments:read',
    'deployments:write',
    'sagas:read',
    'sagas:run',
  ],
}

/** What roles are changed to. */
export const GRANTS: readonly (readonly string[])[] = [
  [],
  ['*:read'],
  ['*:read', '*:write'],
  ['inventory:read', 'projects:read'],
  ['deployments:read', 'deployments:write'],
  ['deployments:operate', 'deployments:read', 'deployments:write'],
  ['billing:read', 'sagas:read'],
  ['costs:read', 'drift:read'],
  ['drift:accept', 'drift:read', 'projects:read', 'projects:write'],
  ['deployments:read', 'sagas:read', 'sagas:run'],
]

export type State = 'trial' | 'active' | 'past_due' | 'paused' | 'suspended' | 'cancelled' | 'archived'
export const STATES: readonly State[] = [
  'trial',
  'active',
  'past_due',
  'paused',
  'suspended',
  'cancelled',
  'archived',
]

export interface Deployment {
  id: string
  slug: string
  tenant: string
  made: number
  state: State
  /** Set while billing is to leave it alone. */
  hold: { by: string; at: string; reason: string } | null
  subscription: { plan: string; status: 'active' | 'paused' | 'cancelled'; since: number } | null
  /** What was agreed, and from when to when. */
  terms: { plan: string; from: number; to: number | null }[]
  events: { from_state: State; to_state: State; actor: string; actor_role: string; created_at: string }[]
}

export interface Project {
  id: string
  provider_id: string
  isDefault: boolean
  tenant: string | null
  purpose: 'internal' | 'tenant' | 'shared' | 'unassigned'
}

export type Changes = Record<string, { before: unknown; after: unknown }>

export interface ResourceEvent {
  kind: 'discovered' | 'updated' | 'deleted' | 'restored' | 'drift_detected'
  changes: Changes | null
  actor: string
  created_at: string
  /** Whose the resource was when this had happened. */
  owner: string | null
  /** By this it came to its owner. */
  arrival: boolean
}

/** As the inventory has it. */
export interface Row {
  name: string
  tags: string[]
  size: string
  tenant: string | null
  project: string | null
  deployment: string | null
  /** What an operator said it is for, as long as that holds. */
  assigned: string | null
  strikes: number
  missingSince: number | null
  firstSeen: number
  lastSeen: number
  deletedAt: number | null
}

export interface Drift {
  id: string
  field: string
  desired: unknown
  actual: unknown
  status: 'open' | 'accepted' | 'stale'
  resolved_by: string | null
  /** Whose the resource was when it was found. */
  owner: string | null
}

export interface Thing {
  id: string
  kind: 'droplet' | 'volume'
  provider_id: string
  /** At the provider; tags name deployments by their symbols. */
  real: { there: boolean; name: string; tags: string[]; size: string; project: string }
  /** The project whose list named it last. */
  listed: string | null
  row: Row | null
  events: ResourceEvent[]
  /** How it was from each time on. */
  past: { at: number; row: Row }[]
  /** Whose it was and what it was tied to, from each time on. */
  hands: { at: number; tenant: string | null }[]
  ties: { at: number; deployment: string | null }[]
  lives: { at: number; alive: boolean }[]
  desired: { spec: Record<string, unknown>; version: number; owner: string | null } | null
  drifts: Drift[]
}

export interface Line {
  id: string
  invoice: string
  line_number: number
  kind: 'droplet' | 'volume'
  name: string
  amount: string
  resource: string | null
  tenant: string | null
  deployment: string | null
}

export interface Saga {
  id: string
  deployment: string
  tenant: string
  status: 'completed' | 'rolled_back'
}

/** Units of the one meter. */
export interface Told {
  deployment: string
  at: number
  units: number
}

export interface Statement {
  id: string
  deployment: string
  period: string
  sequence: number
  adjusts: string | null
  total: number
}

export interface World {
  now: number
  roles: Record<string, readonly string[]>
  suspended: Set<string>
  /** The cast, and the API keys that were made. */
  callers: Caller[]
  projects: Project[]
  things: Thing[]
  deployments: Deployment[]
  sagas: Saga[]
  lines: Line[]
  invoices: string[]
  /** The hours that are metered, from the first deployment's on. */
  meteredUntil: number | null
  told: Told[]
  /** Months and deployments of which something was told when they were over. */
  late: Set<string>
  closedUntil: number | null
  statements: Statement[]
}

export const START = Date.parse('2026-11-15T12:00:00.000Z')
export const iso = (at: number): string => new Date(at).toISOString()

export const PROJECTS = ['prj-0', 'prj-1', 'prj-2', 'prj-3'] as const

/** Two tenants with a project and a deployment each, one project of nobody's, and nothing in any of them. */
export function firstWorld(): World {
  const project = (index: number, tenant: string | null, purpose: Project['purpose']): Project => ({
    id: `P:${PROJECTS[index]}`,
    provider_id: PROJECTS[index]!,
    isDefault: index === 0,
    tenant,
    purpose,
  })
  return {
    now: START,
    roles: { ...ROLES },
    suspended: new Set(),
    callers: [...CAST],
    projects: [
      project(0, PLATFORM, 'internal'),
      project(1, 'acme', 'tenant'),
      project(2, 'bolt', 'tenant'),
      project(3, null, 'unassigned'),
    ],
    things: [],
    deployments: [newDeployment('d1', 'acme'), newDeployment('d2', 'bolt')],
    sagas: [],
    lines: [],
    invoices: [],
    meteredUntil: null,
    told: [],
    late: new Set(),
    closedUntil: null,
    statements: [],
  }
}

export const newDeployment = (slug: string, tenant: string, made = START): Deployment => ({
  id: `D:${slug}`,
  slug,
  tenant,
  made,
  state: 'active',
  hold: null,
  subscription: null,
  terms: [],
  events: [],
})

export interface Month {
  period: string
  start: number
  end: number
}

export function monthOf(at: number): Month {
  const [year, month] = [new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()]
  return { period: iso(at).slice(0, 7), start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) }
}

/** Every month from the first of the history to the running one. */
export function monthsOf({ now }: World): Month[] {
  const months = [monthOf(START)]
  while (months.at(-1)!.end <= now) months.push(monthOf(months.at(-1)!.end))
  return months
}
