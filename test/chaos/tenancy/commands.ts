// What can happen in a history. Numbers pick among what there is when their turn comes, so that every sequence makes
// sense, and still does when steps are left out of it.
import fc from 'fast-check'
import { GRANTS, STATES, type State } from './world.ts'

/** Tags by number: a deployment's tie, or a word of no meaning. */
export type TagChoice = { deployment: number } | { word: number }

export type Command =
  // At the provider, behind the service's back.
  | { do: 'make'; kind: 'droplet' | 'volume'; project: number; name: number; tags: TagChoice[] }
  | { do: 'rename'; thing: number; name: number }
  | { do: 'retag'; thing: number; tags: TagChoice[] }
  | { do: 'resize'; thing: number }
  | { do: 'remove'; thing: number }
  | { do: 'return'; thing: number }
  | { do: 'move'; thing: number; project: number }
  // The service's own work.
  | { do: 'sweep'; projectsFirst: boolean; times: number }
  | { do: 'sweep projects' }
  | { do: 'sweep kind'; kind: 'droplet' | 'volume' }
  | { do: 'refresh'; thing: number }
  | { do: 'detect drift' }
  | { do: 'meter' }
  | { do: 'next month' }
  | { do: 'close months' }
  | { do: 'ingest'; lines: { thing: number; hoursAgo: number }[] }
  // Requests.
  | { do: 'assign project'; by: number; project: number; tenant: number; purpose: number }
  | { do: 'assign resource'; by: number; thing: number; deployment: number }
  | { do: 'create deployment'; by: number; tenant: number }
  | { do: 'transition'; by: number; deployment: number; to: State }
  | { do: 'hold billing'; by: number; deployment: number; on: boolean }
  | { do: 'subscribe'; by: number; deployment: number; plan: number }
  | { do: 'change plan'; by: number; deployment: number; plan: number }
  | { do: 'tell usage'; by: number; deployment: number; ago: number; units: number }
  | { do: 'desire'; by: number; thing: number; spec: number }
  | { do: 'accept drift'; by: number; drift: number }
  | { do: 'deprovision'; by: number; deployment: number }
  | { do: 'make key'; by: number }
  | { do: 'permit'; role: number; grant: number }
  | { do: 'suspend'; caller: number; on: boolean }

const pick = fc.nat(11)
/** Half of all requests are a platform_admin's, who may do most of what is asked. */
const by = fc.oneof(fc.constant(0), pick)
const kind = fc.constantFrom('droplet' as const, 'droplet' as const, 'volume' as const)
const tag = fc.oneof(
  { weight: 3, arbitrary: fc.record({ deployment: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ word: fc.nat(1) }) },
)
const tags = fc.array(tag, { maxLength: 2 })
const say = <Word extends string>(word: Word) => fc.constant(word)

type Weighted = { weight: number; arbitrary: fc.Arbitrary<Command> }
const often = (weight: number, arbitrary: fc.Arbitrary<Command>): Weighted => ({ weight, arbitrary })

export const command: fc.Arbitrary<Command> = fc.oneof(
  often(6, fc.record({ do: say('make'), kind, project: fc.nat(3), name: fc.nat(4), tags })),
  often(2, fc.record({ do: say('rename'), thing: pick, name: fc.nat(4) })),
  often(3, fc.record({ do: say('retag'), thing: pick, tags })),
  often(1, fc.record({ do: say('resize'), thing: pick })),
  often(2, fc.record({ do: say('remove'), thing: pick })),
  often(1, fc.record({ do: say('return'), thing: pick })),
  often(4, fc.record({ do: say('move'), thing: pick, project: fc.nat(3) })),
  often(8, fc.record({ do: say('sweep'), projectsFirst: fc.boolean(), times: fc.constantFrom(1, 1, 1, 3) })),
  often(1, fc.record({ do: say('sweep projects') })),
  often(1, fc.record({ do: say('sweep kind'), kind })),
  often(1, fc.record({ do: say('refresh'), thing: pick })),
  often(3, fc.record({ do: say('detect drift') })),
  often(2, fc.record({ do: say('meter') })),
  often(1, fc.record({ do: say('next month') })),
  often(1, fc.record({ do: say('close months') })),
  often(
    2,
    fc.record({
      do: say('ingest'),
      lines: fc.array(fc.record({ thing: pick, hoursAgo: fc.nat(4) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  ),
  often(
    5,
    fc.record({
      do: say('assign project'),
      by,
      project: fc.nat(3),
      tenant: fc.nat(3),
      purpose: fc.nat(3),
    }),
  ),
  often(4, fc.record({ do: say('assign resource'), by, thing: pick, deployment: fc.nat(4) })),
  often(1, fc.record({ do: say('create deployment'), by, tenant: fc.nat(1) })),
  often(6, fc.record({ do: say('transition'), by, deployment: pick, to: fc.constantFrom(...STATES) })),
  often(2, fc.record({ do: say('hold billing'), by, deployment: pick, on: fc.boolean() })),
  often(1, fc.record({ do: say('subscribe'), by, deployment: pick, plan: fc.nat(1) })),
  often(1, fc.record({ do: say('change plan'), by, deployment: pick, plan: fc.nat(1) })),
  often(
    2,
    fc.record({
      do: say('tell usage'),
      by,
      deployment: pick,
      ago: fc.nat(2),
      units: fc.integer({ min: 1, max: 9 }),
    }),
  ),
  often(4, fc.record({ do: say('desire'), by, thing: pick, spec: fc.nat(4) })),
  often(2, fc.record({ do: say('accept drift'), by, drift: pick })),
  often(2, fc.record({ do: say('deprovision'), by, deployment: pick })),
  often(1, fc.record({ do: say('make key'), by })),
  often(2, fc.record({ do: say('permit'), role: fc.nat(3), grant: fc.nat(GRANTS.length - 1) })),
  often(1, fc.record({ do: say('suspend'), caller: pick, on: fc.boolean() })),
)

export const history = fc.noBias(fc.array(command, { minLength: 1, maxLength: 16, size: 'max' }))

/** What every history begins with: something of each tenant's and something of nobody's, with drift and costs. */
export const PRELUDE: readonly Command[] = [
  { do: 'make', kind: 'droplet', project: 1, name: 0, tags: [{ deployment: 0 }] },
  { do: 'make', kind: 'droplet', project: 2, name: 1, tags: [{ deployment: 1 }] },
  { do: 'make', kind: 'volume', project: 3, name: 2, tags: [{ deployment: 0 }] },
  { do: 'sweep', projectsFirst: true, times: 1 },
  { do: 'desire', by: 0, thing: 0, spec: 1 },
  { do: 'desire', by: 0, thing: 1, spec: 1 },
  { do: 'detect drift' },
  {
    do: 'ingest',
    lines: [
      { thing: 0, hoursAgo: 0 },
      { thing: 1, hoursAgo: 0 },
    ],
  },
]

/** Histories that once ended in a difference, tried before any other. */
export const REMEMBERED: readonly Command[][] = [
  // A line of a time before its resource was known had the first tenant and the first deployment, of another tenant.
  [
    { do: 'make', kind: 'droplet', project: 2, name: 3, tags: [{ deployment: 0 }] },
    { do: 'sweep', projectsFirst: true, times: 1 },
    { do: 'assign project', by: 0, project: 2, tenant: 0, purpose: 0 },
    { do: 'ingest', lines: [{ thing: 3, hoursAgo: 4 }] },
  ],
  // What somebody wished the owner were was taken for the owner before.
  [
    { do: 'desire', by: 0, thing: 0, spec: 4 },
    { do: 'detect drift' },
    { do: 'sweep', projectsFirst: true, times: 1 },
    { do: 'meter' },
    { do: 'ingest', lines: [{ thing: 0, hoursAgo: 1 }] },
  ],
]

/** Months that are closed, and told of afterwards. */
export const CLOSED: readonly Command[] = [
  { do: 'subscribe', by: 0, deployment: 0, plan: 0 },
  { do: 'tell usage', by: 1, deployment: 0, ago: 0, units: 5 },
  { do: 'tell usage', by: 2, deployment: 0, ago: 0, units: 9 },
  { do: 'next month' },
  { do: 'tell usage', by: 0, deployment: 1, ago: 1, units: 2 },
  { do: 'subscribe', by: 2, deployment: 1, plan: 1 },
  { do: 'next month' },
  { do: 'meter' },
  { do: 'close months' },
  { do: 'tell usage', by: 1, deployment: 0, ago: 2, units: 4 },
  { do: 'next month' },
  { do: 'meter' },
  { do: 'close months' },
  { do: 'tell usage', by: 2, deployment: 1, ago: 2, units: 1 },
  { do: 'assign project', by: 0, project: 1, tenant: 1, purpose: 0 },
  { do: 'close months' },
]

/** One line, to be read by people. */
export function inWords({ do: what, ...details }: Command): string {
  const rest = Object.entries(details).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return rest.length > 0 ? `${what} (${rest.join(', ')})` : what
}
