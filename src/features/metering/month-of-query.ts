// The month that a query names; one that has not begun is refused.
import { invalid } from '../../kernel/errors.ts'
import { type Month, monthAsked } from './period.ts'

export function monthOfQuery(period: string | undefined, now: Date): Month {
  const month = monthAsked(period, now)
  if (month) return month
  throw invalid('The query is not acceptable.', [
    { pointer: '?period', message: 'is a month that has not begun' },
  ])
}
