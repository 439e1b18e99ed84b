// A project of the provider's, as it is mirrored. Pure.
import type { RawItem } from '../../integrations/digitalocean/index.ts'
import { fitText, isStorableId } from './seen-resource.ts'
import type { ListingRemarks } from './sync-run.ts'

export interface SeenProject {
  provider_id: string
  name: string
  description: string | null
  is_default: boolean
}

/** Null for what cannot be stored under its id. */
export function seenProject(raw: RawItem, remarks?: ListingRemarks): SeenProject | null {
  const { id, name, description, is_default } = raw
  if (typeof id !== 'string' || id === '') return null
  if (!isStorableId(id)) {
    remarks?.setAside(id, 'its id cannot be stored')
    return null
  }
  const cut: string[] = []
  const text = (value: unknown, field: string) =>
    typeof value === 'string' && value !== ''
      ? fitText(value.replaceAll('\0', '').toWellFormed(), field, cut)
      : null
  const seen = {
    provider_id: id,
    name: text(name, 'name') ?? id,
    description: text(description, 'description'),
    is_default: is_default === true,
  }
  if (cut.length > 0) remarks?.cut(id, cut)
  return seen
}
