// Which moments can be asked about.
import { invalid } from '../../kernel/errors.ts'
import type { Clock } from '../../kernel/time.ts'

/** Nothing is older, and the database has no year 0. */
const EARLIEST = 0

const timeOf = (text: string): string => new Date(Math.max(Date.parse(text), EARLIEST)).toISOString()

/** The time asked for; what will be nobody knows. */
export function past({ clock }: { clock: Clock }, at: string): string {
  if (Date.parse(at) > clock.now().getTime())
    throw invalid('The query is not acceptable.', [{ pointer: '?at', message: 'must not be in the future' }])
  return timeOf(at)
}

/** From one moment to a later one. The later may be yet to come: nothing has changed by then. */
export function span(from: string, to: string): [from: string, to: string] {
  if (Date.parse(from) >= Date.parse(to))
    throw invalid('The query is not acceptable.', [{ pointer: '?from', message: 'must be before to' }])
  return [timeOf(from), timeOf(to)]
}
