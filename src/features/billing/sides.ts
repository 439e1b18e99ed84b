// The provider's money is read from two sides: by operators under /billing, which the specification keeps to them, and by
// tenants under /costs, where each sees the lines that were its own. The routes and what they do are the same.
import type { Guard } from '../../kernel/http/caller.ts'

export interface Side {
  lines: string
  summary: string
  focus: string
  config: { guard: Guard }
  tags: string[]
  /** The operations' ids: those of tenants say `Own`. */
  own: '' | 'Own'
  /** Whose lines they are, for the reference. */
  whose: string
}

export const SIDES: readonly Side[] = [
  {
    lines: '/api/v1/billing/cost-lines',
    summary: '/api/v1/billing/summary',
    focus: '/api/v1/billing/focus',
    config: { guard: 'operator' },
    tags: ['Billing'],
    own: '',
    whose: 'Of all tenants; a tenant reads its own under `/costs`.',
  },
  {
    lines: '/api/v1/costs/lines',
    summary: '/api/v1/costs/summary',
    focus: '/api/v1/costs/focus',
    config: { guard: 'caller' },
    tags: ['Costs'],
    own: 'Own',
    whose:
      'A tenant’s lines are those that were its own while they ran, whoever has the resource now, without `project_name` and `extra`, which are the operator’s.',
  },
]
