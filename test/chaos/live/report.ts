// How long changes took to be seen, in figures, and whether the bars are met.
import type { Audit } from './audit.ts'
import type { Sighting } from './watch.ts'

export const BARS = { told_p95_ms: 15_000, others_ms: 90_000, share: 0.25 }

export interface Times {
  count: number
  p50_s: number
  p95_s: number
  max_s: number
}

export function timesOf(sightings: readonly Sighting[]): Times {
  const sorted = sightings.map(({ after_ms }) => after_ms!).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  const seconds = (ms: number) => Math.round(ms / 100) / 10
  return { count: sorted.length, p50_s: seconds(at(0.5)), p95_s: seconds(at(0.95)), max_s: seconds(at(1)) }
}

export interface Latencies {
  /** Of changes that an action tells of. */
  with_actions: Times
  /** Of all others. */
  others: Times
  by_kind: Record<string, Times>
}

export function latencies(seen: readonly Sighting[]): Latencies {
  const kinds = new Map<string, Sighting[]>()
  for (const sighting of seen) {
    const gone = sighting.after === null ? ', gone' : ''
    const name = `${sighting.kind}${sighting.told ? ', with an action' : ''}${gone}`
    kinds.set(name, [...(kinds.get(name) ?? []), sighting])
  }
  return {
    with_actions: timesOf(seen.filter(({ told }) => told)),
    others: timesOf(seen.filter(({ told }) => !told)),
    by_kind: Object.fromEntries(
      [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, of]) => [name, timesOf(of)]),
    ),
  }
}

/** What misses its bar, in words; empty when all is well. `worst`: others by their slowest, not by their 95th of a hundred. */
export function missed(
  { with_actions, others }: Latencies,
  { wrong_strikes, wrongly_missing, wrong_deletions, duplicate_events, unlike_the_provider }: Audit,
  unseen: readonly Sighting[],
  share: number,
  worst: boolean,
): string[] {
  const found: string[] = []
  if (with_actions.p95_s * 1_000 > BARS.told_p95_ms)
    found.push(`changes with actions: ${with_actions.p95_s} s at the 95th percentile`)
  const slowest = worst ? others.max_s : others.p95_s
  if (slowest * 1_000 > BARS.others_ms) found.push(`others: ${slowest} s`)
  if (share > BARS.share) found.push(`looking took ${share} of the rate limit`)
  for (const { kind, id, after, action } of unseen)
    found.push(`never seen: ${kind} ${id} ${after ? '' : 'gone'} ${action?.type ?? ''}`)
  const lists = { wrong_strikes, wrongly_missing, wrong_deletions, duplicate_events, unlike_the_provider }
  for (const [name, list] of Object.entries(lists)) for (const one of list) found.push(`${name}: ${one}`)
  return found
}
