// A project of the provider's: what it looks like in the API and in the tables, and how it is read from a response.
import { Type } from 'typebox'
import type { RawItem } from '../../integrations/digitalocean/index.ts'
import type { Row } from '../../kernel/db/tables.ts'
import { Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { fitText, isStorableId } from './seen-resource.ts'
import type { ListingRemarks } from './sync-run.ts'

export const PURPOSES = ['internal', 'tenant', 'shared', 'unassigned'] as const
export type Purpose = (typeof PURPOSES)[number]

export const Project = noun('Project', {
  id: Id,
  provider: Type.String(),
  provider_id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  is_default: Type.Boolean(),
  tenant_id: Nullable(Type.String()),
  purpose: Type.Enum([...PURPOSES]),
  first_seen_at: Time,
  last_seen_at: Time,
  deleted_at: Nullable(Time),
})

export type CloudProjectRow = Row<'cloud_projects'>

declare module '../../kernel/db/tables.ts' {
  interface ColumnTypes {
    cloud_projects: { purpose: Purpose }
  }
}

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
