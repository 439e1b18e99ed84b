// SQL about images and snapshots: what they were taken of, and whether a droplet was made from them.
import { madeAt } from './check.ts'

/** SQL: since when a snapshot or an image has been there, by the provider or else by the first look. */
export const takenAt = (row = 'r'): string => `coalesce(${madeAt(row)}, ${row}.first_seen_at)`

/** SQL: a living droplet was made from it, and could not be rebuilt without it. */
export const inUse = (row = 'r'): string => `exists (
  select from cloud_resources d where d.deleted_at is null and d.kind = 'droplet' and d.attrs -> 'image' ->> 'slug' is null
    and d.attrs -> 'image' ->> 'id' = ${row}.provider_id)`

/** SQL: joins the source `s` of a snapshot `r`, where it is known, and the last whole listing `f` of the source's kind. */
export const SOURCE = `
  left join cloud_resources s on s.provider = r.provider and s.kind = r.attrs ->> 'resource_type'
    and s.provider_id = r.attrs ->> 'resource_id' and s.kind in ('droplet', 'volume')
  left join sync_freshness f on f.kind = r.attrs ->> 'resource_type' and f.kind in ('droplet', 'volume')`

/**
 * SQL: the source is gone. One that only misses a sweep is not; one that the inventory never knew is, when a whole listing from
 * after the snapshot was taken did not have it.
 */
export const SOURCE_GONE = `(s.deleted_at is not null
  or s.id is null and coalesce(r.attrs ->> 'resource_id', '') <> '' and coalesce(f.complete_at > ${takenAt()}, false))`
