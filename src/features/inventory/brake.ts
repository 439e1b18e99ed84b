// When one sweep would delete a large part of a kind, the provider is more likely wrong than the resources gone: the
// deletions are held until an operator confirms them. Pure.

const LARGEST_SHARE = 0.2
const FEWEST_ROWS = 100

export function mustHold(doomed: number, living: number): boolean {
  return doomed >= FEWEST_ROWS && doomed > living * LARGEST_SHARE
}
