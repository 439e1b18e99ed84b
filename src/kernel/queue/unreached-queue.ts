// Which queue a process no longer reaches, by what its workers last did.
import type { WipData } from 'pg-boss'
import { QUEUE_NAMES, type QueueName } from './queues.ts'

export type WorkerLife = Pick<
  WipData,
  'name' | 'count' | 'createdOn' | 'lastFetchedOn' | 'lastJobStartedOn' | 'lastJobEndedOn' | 'lastErrorOn'
>

/** A queue none of whose free workers has fetched since then; undefined when there is none. */
export const unreachedQueue = (workers: WorkerLife[], since: number): QueueName | undefined =>
  QUEUE_NAMES.find(name => {
    const free = workers.filter(worker => worker.name === name && !isBusy(worker))
    return free.length > 0 && free.every(worker => lastReached(worker) < since)
  })

/** A worker that has a job in hand does not fetch. One whose job could not be settled has none any more. */
const isBusy = ({ count, lastJobStartedOn, lastErrorOn }: WorkerLife): boolean =>
  count > 0 && (lastErrorOn ?? 0) < (lastJobStartedOn ?? 0)

const lastReached = ({ createdOn, lastFetchedOn, lastJobEndedOn }: WorkerLife): number =>
  Math.max(createdOn, lastFetchedOn ?? 0, lastJobEndedOn ?? 0)
