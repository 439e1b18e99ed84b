// Which queue a process no longer reaches, by what its workers last did.
import type { WipData } from 'pg-boss'

export type WorkerLife = Pick<
  WipData,
  'name' | 'count' | 'createdOn' | 'lastFetchedOn' | 'lastJobStartedOn' | 'lastJobEndedOn' | 'lastErrorOn'
>

/** A queue none of whose free workers has fetched since then; undefined when there is none. */
export function unreachedQueue(workers: WorkerLife[], since: number): string | undefined {
  const free = workers.filter(worker => !isBusy(worker))
  const reached = new Set(free.filter(worker => lastReached(worker) >= since).map(({ name }) => name))
  return free.find(({ name }) => !reached.has(name))?.name
}

/** A worker that has a job in hand does not fetch. One whose job could not be settled has none any more. */
const isBusy = ({ count, lastJobStartedOn, lastErrorOn }: WorkerLife): boolean =>
  count > 0 && (lastErrorOn ?? 0) < (lastJobStartedOn ?? 0)

const lastReached = ({ createdOn, lastFetchedOn, lastJobEndedOn }: WorkerLife): number =>
  Math.max(createdOn, lastFetchedOn ?? 0, lastJobEndedOn ?? 0)
