// The days on which a resource price holds: from its first day to the day before `effective_to`.
import type { FieldError } from '../../kernel/errors.ts'

export interface Period {
  effective_from: string
  effective_to: string | null
}

export interface PriceTerms extends Period {
  resource_kind: string
  unit: string
  price_cents: number
  currency: string
}

export function periodErrors({ effective_from, effective_to }: Period, at: string): FieldError[] {
  if (effective_to === null || effective_to > effective_from) return []
  return [{ pointer: `${at}/effective_to`, message: `must be after effective_from (${effective_from})` }]
}

/** Dates are compared as text: `YYYY-MM-DD` sorts as the days do. */
export const overlap = (a: Period, b: Period): boolean =>
  (b.effective_to === null || a.effective_from < b.effective_to) &&
  (a.effective_to === null || b.effective_from < a.effective_to)

/** Two prices of one subject cannot hold on one day. */
export const subjectOf = ({
  resource_kind,
  unit,
  currency,
}: Pick<PriceTerms, 'resource_kind' | 'unit' | 'currency'>): string => `${resource_kind}/${unit} ${currency}`
