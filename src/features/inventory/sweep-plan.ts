// What is known of some resources and what was seen of them, turned into what is to be written. Pure: the seed's
// lifecycle table, but for strikes, which need a whole listing (write-resources.ts), and whose each resource is.

import type { Changes, CloudResourceRow } from './resource.ts'
import { deploymentOfTags, type SeenResource } from './seen-resource.ts'

export type KnownResource = Pick<
  CloudResourceRow,
  | 'id'
  | 'provider_id'
  | 'name'
  | 'region'
  | 'status'
  | 'tags'
  | 'attrs'
  | 'project_id'
  | 'tenant_id'
  | 'deployment_id'
  | 'assigned_deployment_id'
  | 'deleted_at'
  | 'last_look'
>

/** The project that holds a resource, and whose that is. */
export type Place = Pick<CloudResourceRow, 'project_id' | 'tenant_id'>

export interface Owners {
  /** By the resource's provider id. One that is missing stays where it is known to be. */
  places: ReadonlyMap<string, Place>
  /** The tenant of each deployment that is claimed and exists. */
  tenants: ReadonlyMap<string, string>
}

export type Insert = Required<Omit<SeenResource, 'cut'>> &
  Place &
  Pick<KnownResource, 'assigned_deployment_id'>

export interface Update extends Insert {
  id: string
  event: 'updated' | 'restored'
  changes: Changes | null
}

export interface SweepPlan {
  /** absent → present: discovered */
  inserts: Insert[]
  /** present, something meaningful changed: updated; deleted → present: restored */
  updates: Update[]
  /** present, nothing meaningful changed: only the fingerprint of what was answered differs */
  touches: { id: string; fingerprint: string }[]
}

/** `look` is the look at the provider that showed it. */
export function planSweep(
  known: KnownResource[],
  seen: SeenResource[],
  look: number,
  owners: Owners,
): SweepPlan {
  const byId = new Map(known.map(row => [row.provider_id, row]))
  const plan: SweepPlan = { inserts: [], updates: [], touches: [] }
  for (const resource of seen) {
    const row = byId.get(resource.provider_id)
    if (!row) {
      plan.inserts.push(merged(unknown(resource), resource, owners))
      continue
    }
    if (isOlderNews(row, look)) continue
    const next = merged(row, resource, owners)
    const changes = changesBetween(row, next)
    if (row.deleted_at !== null) plan.updates.push({ ...next, id: row.id, event: 'restored', changes })
    else if (changes) plan.updates.push({ ...next, id: row.id, event: 'updated', changes })
    else plan.touches.push({ id: row.id, fingerprint: resource.fingerprint })
  }
  return plan
}

/**
 * A page of a sweep may be written after a refresh that asked later, or the other way round. What was asked for
 * earlier must not undo what was seen later: the same change would be told twice. Nor does it bring back what was
 * found to be gone since: a saga destroys while a sweep is reading.
 */
const isOlderNews = (row: KnownResource, look: number): boolean => row.last_look > look

type Fields = Omit<KnownResource, 'id' | 'provider_id' | 'deleted_at' | 'last_look'>

/** What stands for the fields of a new resource that the answer lacks. */
const unknown = ({ provider_id }: SeenResource): Fields => ({
  name: provider_id,
  region: null,
  status: null,
  tags: [],
  attrs: {},
  project_id: null,
  tenant_id: null,
  deployment_id: null,
  assigned_deployment_id: null,
})

/** A field that the answer lacks (a token without a side scope) is not a change: what is known stays. */
function merged(known: Fields, seen: SeenResource, { places, tenants }: Owners): Insert {
  const { project_id, tenant_id } = places.get(seen.provider_id) ?? known
  const claimed = claimOf(known, seen)
  // Anybody can write a tag: it ties a resource only to a deployment of the resource's own tenant, by its project.
  const own = claimed !== null && project_id !== null && tenants.get(claimed) === tenant_id
  // What an operator said holds where no tag ties the resource, until it changes hands or a tag does.
  const assigned = known.tenant_id === tenant_id ? known.assigned_deployment_id : null
  const tagged = own && (seen.deployment_id ?? deploymentOfTags(known.tags)) != null
  return {
    provider_id: seen.provider_id,
    name: seen.name ?? known.name,
    region: seen.region === undefined ? known.region : seen.region,
    status: seen.status === undefined ? known.status : seen.status,
    tags: seen.tags ?? known.tags,
    attrs: { ...known.attrs, ...seen.attrs },
    fingerprint: seen.fingerprint,
    project_id,
    tenant_id,
    deployment_id: own ? claimed : assigned,
    assigned_deployment_id: tagged ? null : assigned,
  }
}

/** The deployment that a resource says it belongs to, whoever's that is. Tags that the answer lacks are those known. */
export function claimOf(
  known: Pick<Fields, 'tags' | 'deployment_id'> | undefined,
  seen: SeenResource,
): string | null {
  if (seen.deployment_id !== undefined) return seen.deployment_id
  return known ? (deploymentOfTags(known.tags) ?? known.deployment_id) : null
}

const FIELDS = ['name', 'region', 'status', 'tags', 'project_id', 'tenant_id', 'deployment_id'] as const

function changesBetween(row: KnownResource, next: Insert): Changes | null {
  const changes: [string, { before: unknown; after: unknown }][] = []
  for (const field of FIELDS) {
    if (!same(row[field], next[field])) changes.push([field, { before: row[field], after: next[field] }])
  }
  for (const [key, after] of Object.entries(next.attrs)) {
    const before = Object.hasOwn(row.attrs, key) ? row.attrs[key] : null
    if (!same(before, after)) changes.push([`attrs.${key}`, { before, after }])
  }
  return changes.length > 0 ? Object.fromEntries(changes) : null
}

/** Are two JSON values the same? Keys of objects have no order; arrays do (the provider client has sorted those whose order means nothing). */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]))
    )
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return keys.every(key => Object.hasOwn(right, key) && same(left[key], right[key]))
}
