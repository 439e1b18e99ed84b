// By what a line is known again in a later file of the same invoice: everything that says what was charged for, nothing
// of how much. Lines that say the same are told apart by their order.
import { createHash } from 'node:crypto'
import type { CostLineRow } from './tables.ts'

export type Identity = Pick<
  CostLineRow,
  'product' | 'group_description' | 'description' | 'start_at' | 'end_at' | 'project_name'
>

export function lineKey({
  product,
  group_description,
  description,
  start_at,
  end_at,
  project_name,
}: Identity): string {
  const words = JSON.stringify([product, group_description, description, start_at, end_at, project_name])
  return createHash('sha256').update(words).digest('hex')
}
