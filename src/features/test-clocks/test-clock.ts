// Test clocks: what one looks like in the API, where it may be moved to, and where it stops on its way. The rules are pure.
import { Type } from 'typebox'
import type { Row } from '../../kernel/db/tables.ts'
import type { FieldError } from '../../kernel/errors.ts'
import { Body, ExternalId, Id, Nullable, Time } from '../../kernel/http/schemas.ts'
import { noun } from '../../kernel/noun.ts'
import { monthOf } from '../../kernel/time.ts'

export const TestClock = noun(
  'TestClock',
  {
    id: Id,
    tenant_id: Type.String(),
    now: Type.String({ ...Time, description: 'What time it is for the tenant: a whole hour.' }),
    target: Nullable(Type.String({ ...Time, description: 'Where it is being moved to; null: it stands.' })),
    status: Type.Enum(['ready', 'advancing'], {
      description: '`advancing` until it has reached its target.',
    }),
    started_at: Type.String({ ...Time, description: 'Where it began, by its own time.' }),
    created_by: Type.String(),
    created_at: Type.String({ ...Time, description: 'When it was made, by everybody’s time.' }),
  },
  { status: `case when $.target is null then 'ready' else 'advancing' end` },
)
export type TestClockRow = Row<'test_clocks'>

const Moment = Type.String({ format: 'date-time', description: 'Taken as the hour that it is in.' })

export const CreateTestClock = Body(
  {
    tenant_id: ExternalId,
    now: Type.Optional(
      Type.String({
        ...Moment,
        description:
          'Where it begins; taken as the hour that it is in. Default: now. For a tenant that has deployments not before the hours that are metered; it is moved there from them.',
      }),
    ),
  },
  { title: 'CreateTestClock' },
)

const MOST_MONTHS = 24

export const AdvanceTestClock = Body(
  {
    to: Type.Optional(Moment),
    months: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_MONTHS, description: 'Calendar months from its time on.' }),
    ),
  },
  { title: 'AdvanceTestClock' },
)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The beginning of the hour that a time is in. */
export const wholeHour = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)

/** The same day and hour so many calendar months later; of a day that the month does not have, its last. */
export function monthsLater(at: Date, months: number): Date {
  const later = new Date(at)
  later.setUTCDate(1)
  later.setUTCMonth(later.getUTCMonth() + months)
  const lastDay = Number(monthOf(later).last_day.slice(8))
  later.setUTCDate(Math.min(at.getUTCDate(), lastDay))
  return later
}

/** Where a clock is to be moved to from a time, its own or that which it is on its way to. */
export function targetOf(
  { now, target }: Pick<TestClockRow, 'now' | 'target'>,
  { to, months }: { to?: string; months?: number },
): { target: string } | { fault: FieldError } {
  if ((to === undefined) === (months === undefined))
    return { fault: { pointer: '', message: 'must have `to` or `months`, and not both' } }
  const asked = to === undefined ? monthsLater(new Date(now), months!) : wholeHour(new Date(to))
  const wanted = asked.toISOString()
  const pointer = to === undefined ? '/months' : '/to'
  if (wanted <= now) return { fault: { pointer, message: `is not after the clock’s time (${now})` } }
  if (target !== null && wanted < target)
    return { fault: { pointer, message: `is before the time that it is being moved to (${target})` } }
  if (asked > monthsLater(new Date(now), MOST_MONTHS))
    return { fault: { pointer, message: `is more than ${MOST_MONTHS} months ahead` } }
  return { target: wanted }
}

/** When a month that is over is closed. */
const CLOSED_ON_DAY = 4

/**
 * The next time at which something is due: the end of the month, or when the month before is closed; or the target before. Where
 * somebody looks at every day, the end of the day.
 */
export function nextStop(now: string, target: string, daily = false): string {
  const month = monthOf(now)
  const closing = new Date(Date.parse(month.start_at) + (CLOSED_ON_DAY - 1) * DAY_MS).toISOString()
  const day = new Date((Math.floor(Date.parse(now) / DAY_MS) + 1) * DAY_MS).toISOString()
  const stop = daily ? day : now < closing ? closing : month.end_at
  return stop < target ? stop : target
}
