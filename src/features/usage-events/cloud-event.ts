// A usage event as a sender writes it, CloudEvents 1.0: what is read from one, and why one is refused. Pure: each event by itself,
// so that one that is wrong keeps no other from being counted.
import { type Static, Type } from 'typebox'
import { isUuid } from '../../kernel/ids.ts'
import { monthOf } from '../../kernel/time.ts'
import type { Aggregation } from '../catalog/index.ts'

export const MOST_EVENTS = 1_000
/** Of an id, a source, and of what a `unique` meter counts. */
const LONGEST = 256
/** Clocks of senders may be a little ahead. */
const AHEAD_MS = 5 * 60_000

const member = (description: string) => Type.Optional(Type.Unknown({ description }))

/** It only describes: what is wrong with an event is told of it alone. What else CloudEvents allows is taken and not kept. */
export const CloudEvent = Type.Object(
  {
    specversion: member('`1.0`.'),
    id: member(`With \`source\` the name of the event, for good. 1 to ${LONGEST} characters.`),
    source: member(`Who measured. 1 to ${LONGEST} characters.`),
    type: member('The code of a meter.'),
    subject: member('The id of the deployment.'),
    time: member(
      'When it was used, RFC 3339; not before the month in which the deployment was made, at most 5 minutes ahead. Default: now.',
    ),
    data: member(
      `\`{"value": …}\`: a number of at least 0, kept to nine decimal places; for a meter that counts different things (\`unique\`) also a text of 1 to ${LONGEST} characters.`,
    ),
  },
  { title: 'UsageEvent', additionalProperties: true },
)
export type CloudEvent = Static<typeof CloudEvent>

export const REFUSALS = {
  unsupported_specversion: 'Only version 1.0 of CloudEvents is taken: `"specversion": "1.0"`.',
  invalid_id: `The id must be a text of 1 to ${LONGEST} characters.`,
  invalid_source: `The source must be a text of 1 to ${LONGEST} characters.`,
  unknown_meter: 'The type is not the code of a meter.',
  unknown_deployment: 'The subject is not the id of a deployment of yours.',
  invalid_time: 'The time must be written as RFC 3339 says, such as 2026-11-15T08:30:00Z.',
  time_in_the_future: 'The time has not come yet.',
  time_before_deployment: 'The time lies before the month in which the deployment was made.',
  value_not_a_number: 'data.value must be a number.',
  value_negative: 'data.value must not be less than 0.',
  value_not_countable: `data.value must be a number, or a text of 1 to ${LONGEST} characters.`,
} as const
export type RefusalCode = keyof typeof REFUSALS

export const Ingested = Type.Object(
  {
    new: Type.Integer({ description: 'Events that count from now on.' }),
    known: Type.Integer({ description: 'Events that were told before, here or earlier in this request.' }),
    refused: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Its place in what was sent, from 0.' }),
        id: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'The event’s id, where it has one.',
        }),
        code: Type.Enum(Object.keys(REFUSALS) as RefusalCode[]),
        message: Type.String(),
      }),
      { description: 'Events that do not count, each with the reason. The others do.' },
    ),
  },
  { title: 'IngestedUsage' },
)
export type Ingested = Static<typeof Ingested>

export interface KnownDeployment {
  id: string
  tenant_id: string
  /** Of the month in which it was made. */
  first_moment: string
  /** What time it is for it, where that is another than for the others, and the last moment that is not in the future. */
  own?: { now: string; latest: string }
}

/** What events are judged by. Times are written alike, with milliseconds and Z, and so sort as text. */
export interface Known {
  now: string
  /** The last moment that is not in the future. */
  latest: string
  meters: ReadonlyMap<string, { aggregation: Aggregation }>
  /** Of the caller, by id. */
  deployments: ReadonlyMap<string, KnownDeployment>
}

export const knownAt = (
  now: Date,
  meters: readonly { code: string; aggregation: Aggregation }[],
  deployments: readonly { id: string; tenant_id: string; created_at: string }[],
  apart: ReadonlyMap<string, Date> = new Map(),
): Known => ({
  ...presentAt(now),
  meters: new Map(meters.map(meter => [meter.code, meter])),
  deployments: new Map(
    deployments.map(({ id, tenant_id, created_at }) => [
      id,
      {
        ...{ id, tenant_id, first_moment: monthOf(created_at).start_at },
        ...(apart.has(id) && { own: presentAt(apart.get(id)!) }),
      },
    ]),
  ),
})

const presentAt = (now: Date) => ({
  now: now.toISOString(),
  latest: new Date(now.getTime() + AHEAD_MS).toISOString(),
})

/** An event that counts. */
export interface UsageEvent {
  tenant_id: string
  source: string
  event_id: string
  deployment_id: string
  meter: string
  at: string
  /** Null: the meter counts different things, and this is `member`. */
  value: number | null
  member: string | null
}

/** The ids that events name, those that can be one. */
export function subjectsOf(events: readonly CloudEvent[]): string[] {
  const texts = [...new Set(events.map(({ subject }) => subject))].filter(text => typeof text === 'string')
  return [...new Set(texts.filter(isUuid).map(text => text.toLowerCase()))]
}

export const idOf = ({ id }: CloudEvent): string | null =>
  typeof id === 'string' ? id.slice(0, LONGEST).toWellFormed() : null

export function readEvent(event: CloudEvent, known: Known): UsageEvent | RefusalCode {
  const { specversion, id, source, type, subject, time, data } = event
  if (specversion !== '1.0') return 'unsupported_specversion'
  if (!isText(id)) return 'invalid_id'
  if (!isText(source)) return 'invalid_source'
  const meter = typeof type === 'string' ? known.meters.get(type) : undefined
  if (!meter) return 'unknown_meter'
  const deployment = typeof subject === 'string' ? known.deployments.get(subject.toLowerCase()) : undefined
  if (!deployment) return 'unknown_deployment'
  const { now, latest } = deployment.own ?? known
  const at = time === undefined || time === null ? now : momentOf(time)
  if (at === undefined) return 'invalid_time'
  if (at > latest) return 'time_in_the_future'
  if (at < deployment.first_moment) return 'time_before_deployment'
  const value = isObject(data) ? data.value : undefined
  const counted = meter.aggregation === 'unique' ? memberOf(value) : numberOf(value)
  if (typeof counted === 'string') return counted
  const { id: deployment_id, tenant_id } = deployment
  return { tenant_id, source, event_id: id, deployment_id, meter: type as string, at, ...counted }
}

function numberOf(value: unknown): Pick<UsageEvent, 'value' | 'member'> | RefusalCode {
  if (typeof value !== 'number') return 'value_not_a_number'
  return value < 0 ? 'value_negative' : { value, member: null }
}

function memberOf(value: unknown): Pick<UsageEvent, 'value' | 'member'> | RefusalCode {
  if (typeof value === 'number') return { value: null, member: String(value) }
  return isText(value) ? { value: null, member: value } : 'value_not_countable'
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Also of what came in a header: neither NUL nor half a character can be kept. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= LONGEST &&
  !value.includes('\0') &&
  value.isWellFormed()

const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-\d\d[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** With milliseconds and Z; undefined: it is no time. */
export function momentOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || !RFC_3339.test(text)) return undefined
  // Days that a month does not have would be taken for those of the next.
  const day = Number(text.slice(8, 10))
  if (day < 1 || day > daysIn(Number(text.slice(0, 4)), Number(text.slice(5, 7)))) return undefined
  // Most are written as they are kept.
  if (text.length === WRITTEN.length && text[10] === 'T' && text[19] === '.' && text[23] === 'Z') return text
  return new Date(text.toUpperCase().replace(' ', 'T')).toISOString()
}

const WRITTEN = '2026-11-15T08:30:00.000Z'

const LONG_MONTHS = new Set([1, 3, 5, 7, 8, 10, 12])

function daysIn(year: number, month: number): number {
  if (month !== 2) return LONG_MONTHS.has(month) ? 31 : 30
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}

/** The binary mode of the HTTP binding: attributes are headers, the body is the data. Undefined: it is no such request. */
export function eventOfHeaders(
  headers: Record<string, string | string[] | undefined>,
  data: unknown,
): CloudEvent | undefined {
  if (headers['ce-specversion'] === undefined) return undefined
  const attributes = ['specversion', 'id', 'source', 'type', 'subject', 'time'].map(name => [
    name,
    decoded(headers[`ce-${name}`]),
  ])
  return { ...Object.fromEntries(attributes), data }
}

/** Percent-encoded, where it is more than printable ASCII; what cannot be decoded is no text. */
function decoded(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
