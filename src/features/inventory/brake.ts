// When one sweep would delete a large part of a kind, the provider is more likely wrong than the resources gone: the
// deletions are held until an operator confirms them. Pure.

/** Either is enough: a fifth of a large account, or most of a small one. */
const LIMITS = [
  { fewest: 100, share: 0.2 },
  { fewest: 25, share: 0.5 },
]

export function mustHold(doomed: number, living: number): boolean {
  return LIMITS.some(({ fewest, share }) => doomed >= fewest && doomed > living * share)
}
