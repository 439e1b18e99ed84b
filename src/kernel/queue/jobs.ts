// The queue, on the service's own database: send inside the caller's transaction, work, stop.
import { isDeepStrictEqual } from 'node:util'
import { fromKysely, PgBoss, type WipData } from 'pg-boss'
import type { Logger } from 'pino'
import type { Static, TSchema } from 'typebox'
import { UNLIMITED } from '../db/connection.ts'
import type { Engine } from '../db/engine.ts'
import { sqlState } from '../db/errors.ts'
import { runLast } from '../db/statement.ts'
import type { Executor } from '../db/tables.ts'
import type { Metrics } from '../metrics.ts'
import { retry } from '../retry.ts'
import { within } from '../time.ts'
import {
  DEAD_LETTERS,
  deadLetterOptions,
  type JobHandler,
  type JobType,
  QUEUE_NAMES,
  QUEUES,
  type QueueName,
  type QueueOptions,
  type QueueSettings,
  queueOf,
  queueOptions,
} from './queues.ts'
import { type Envelope, runJob } from './run-job.ts'

export interface SendOptions {
  /** Of jobs of one type with one key, at most one is queued or running. */
  key: string
  id?: string
  /** Not before so much later, by the database's clock. */
  delayMs?: number
  /** Below 0: waits for the queue's other jobs, however long it has been there. */
  priority?: number
  /** As the last of its transaction, for a key that is new: nobody asks what became of it. */
  last?: boolean
}

export interface Envelopes<P extends TSchema> {
  payload: Static<P>
  key: string
}

export interface Jobs {
  /** Makes the queue's tables and queues; idempotent, and safe on several nodes at once. */
  start(): Promise<void>
  /** Makes the queues of those types that have one of their own; before anything is sent to them. */
  declare(types: JobType[]): Promise<void>
  /** The job's id, or null when one of the same key is queued or running already. */
  send<P extends TSchema>(
    tx: Executor,
    type: JobType<P>,
    payload: Static<P>,
    options: SendOptions,
  ): Promise<string | null>
  /** A job of this key that waits for its time, or after a failure, runs now; false when none waited for that. */
  hurry(tx: Executor, type: JobType, options: Pick<SendOptions, 'key' | 'priority'>): Promise<boolean>
  /** Takes back a job that is queued, or that a worker died over: it is neither run nor becomes a dead letter. */
  discard(tx: Executor, type: JobType, id: string): Promise<void>
  /** Any number of jobs in one statement; those whose key is queued or running already are left out. */
  sendAll<P extends TSchema>(
    tx: Executor,
    type: JobType<P>,
    all: Envelopes<P>[],
    options?: Pick<SendOptions, 'priority'>,
  ): Promise<void>
  work(handlers: JobHandler[]): Promise<void>
  /** Aborted when the process is told to stop. What is in flight still has the grace; what is long may hand over. */
  leaving: AbortSignal
  /** Aborted when the grace is nearly over. */
  ending: AbortSignal
  /** Work that outlives its job: `stop` waits for it as it does for jobs. */
  background(work: Promise<void>): void
  nextRun(cron: string): string | null
  /** The first tick after this time (UTC). */
  tickAfter(cron: string, time: string): string
  /** Takes away the schedules that pg-boss kept for a version before 0023: workers of that version no longer tick then. */
  dropSchedules(): Promise<void>
  /** Puts a dead letter back into the queue it came from; false when there is none of that id. */
  retryDeadLetter(tx: Executor, id: string): Promise<boolean>
  /** A queue that this process works on and has not reached for so long, in seconds; undefined when all are well. */
  unreached(forSeconds: number): string | undefined
  depths(): Promise<{ queue: string; ready: number; deferred: number; active: number; failed: number }[]>
  stop(graceMs: number): Promise<void>
}

export interface JobsOptions {
  engine: Engine
  log: Logger
  metrics: Metrics
  /** Whether this process also runs jobs and tidies up. */
  worker: boolean
}

/**
 * How often a worker looks by itself although new jobs are announced to it. After an outage the announcements come back
 * last (pg-boss waits up to 30 s before it listens again), and jobs must not wait for them.
 */
const NOTIFIED_POLL_SECONDS = 3

/** Of jobs whose type says for itself how often. */
const RETRY_SECONDS = 1

/** What is left of the grace when jobs in flight are told to end. */
const WIND_DOWN_MS = 1_000

/** A fetch that hangs is given up in time for jobs to run again within 30 seconds; upkeep takes longer than a fetch. */
const STATEMENT_LIMIT_MS = 15_000

export function createJobs({ engine, log, metrics, worker }: JobsOptions): Jobs {
  // The queue's own migrations come with its start, and take as long as they take.
  let limitMs = UNLIMITED
  const boss = new PgBoss({
    ...engine.queueConnection(() => limitMs),
    backend: engine.kind,
    // A pooler's sessions are anybody's, so that nothing can be listened to: the workers look by themselves.
    useListenNotify: worker && !engine.isPooled(),
    supervise: worker,
    schedule: false,
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    application_name: 'cloudops-queue',
  })
  boss.on('error', error => log.warn({ err: error }, 'the queue met an error'))
  boss.on('warning', warning => log.warn({ warning }, 'the queue warns'))
  const leaving = new AbortController()
  const ending = new AbortController()
  const inBackground = new Set<Promise<void>>()
  const parts = { engine, log, metrics, ending: ending.signal }
  /** The queues there are, by their names. */
  const standing = new Map<string, object>()

  return {
    leaving: leaving.signal,
    ending: ending.signal,

    background(work) {
      const settled = work
        .catch(error => log.error({ err: error }, 'work in the background failed'))
        .finally(() => inBackground.delete(settled))
      inBackground.add(settled)
    },

    async start() {
      await startBoss(boss, log)
      limitMs = STATEMENT_LIMIT_MS
      // What is there as it should be is left alone: most starts change nothing.
      for (const queue of await boss.getQueues()) standing.set(queue.name, queue)
      await ensure(DEAD_LETTERS, deadLetterOptions)
      for (const name of QUEUE_NAMES) await ensure(name, queueOptions(name))
    },

    async declare(types) {
      for (const type of types) if (type.ownQueue) await ensure(queueOf(type), queueOptions(type.queue))
    },

    send(tx, type, payload, { key, id, delayMs, priority, last }) {
      const envelope: Envelope = { job: type.name, payload }
      return boss.send(queueOf(type), envelope, {
        db: last ? lastly(tx) : fromKysely(tx),
        singletonKey: `${type.name}:${key}`,
        id,
        ...(delayMs !== undefined && { startAfter: Math.ceil(delayMs / 1000) }),
        ...(priority !== undefined && { priority }),
        ...(type.retryLimit !== undefined && { retryLimit: type.retryLimit, retryDelay: RETRY_SECONDS }),
        ...(type.longestSeconds !== undefined && { expireInSeconds: type.longestSeconds }),
      })
    },

    async sendAll(tx, type, all, { priority } = {}) {
      if (all.length === 0) return
      const jobs = all.map(({ payload, key }) => ({
        data: { job: type.name, payload } satisfies Envelope,
        singletonKey: `${type.name}:${key}`,
        priority,
      }))
      await boss.insert(queueOf(type), jobs, { db: fromKysely(tx) })
    },

    async hurry(tx, type, { key, priority }) {
      const [db, singletonKey] = [fromKysely(tx), `${type.name}:${key}`]
      const [job] = await boss.findJobs(queueOf(type), { db, key: singletonKey, queued: true })
      if (!job) return false
      const changes = { startAfter: 0, ...(priority !== undefined && { priority }) }
      const { updated } = await boss.update(queueOf(type), undefined, { db, singletonKey, ...changes })
      return updated > 0 && (job.state === 'retry' || job.startAfter > job.createdOn)
    },

    async discard(tx, type, id) {
      await boss.cancel(queueOf(type), id, { db: fromKysely(tx) })
    },

    async work(handlers) {
      const byName = new Map(handlers.map(handler => [handler.type.name, handler]))
      for (const name of QUEUE_NAMES) {
        for (let i = 0; i < QUEUES[name].concurrency; i++) await addWorker(name, name, byName)
      }
      const own = handlers.map(({ type }) => type).filter(({ ownQueue }) => ownQueue)
      for (const type of own) await ensure(queueOf(type), queueOptions(type.queue))
      for (const type of own) await addWorker(type.queue, queueOf(type), byName)
    },

    nextRun: rememberNextRun((cron, from) => boss.previewSchedule(cron, { count: 1, from })[0]),
    tickAfter: (cron, time) =>
      boss.previewSchedule(cron, { count: 1, from: new Date(time) })[0]!.toISOString(),
    async dropSchedules() {
      for (const { name, key } of await boss.getSchedules()) await boss.unschedule(name, key)
    },

    retryDeadLetter: async (tx, id) =>
      (await boss.redrive(DEAD_LETTERS, { ids: [id], db: fromKysely(tx) })) > 0,

    unreached(forSeconds) {
      return unreachedQueue(boss.getWipData(), Date.now() - forSeconds * 1000)
    },

    async depths() {
      const queues = (await boss.getQueues()).filter(({ name }) => !name.startsWith('__'))
      return queues.map(q => ({
        queue: q.name,
        ready: q.readyCount,
        deferred: q.deferredCount,
        active: q.activeCount,
        failed: q.failedCount,
      }))
    },

    async stop(graceMs) {
      leaving.abort(new Error('the process is stopping'))
      // A little before the queue gives up on them, so that jobs which heed the signal are settled by their handlers.
      const last = Math.max(graceMs / 2, graceMs - WIND_DOWN_MS)
      const timer = setTimeout(() => ending.abort(new Error('the process is stopping')), last)
      try {
        await Promise.all([boss.stop({ graceful: true, timeout: graceMs }), settleBackground(graceMs)])
      } finally {
        clearTimeout(timer)
      }
    },
  }

  /** New work may come from jobs that are still in flight. */
  async function settleBackground(graceMs: number): Promise<void> {
    const until = Date.now() + graceMs
    while (inBackground.size > 0 && Date.now() < until) {
      const all = Promise.all(inBackground).then(() => {})
      await within(until - Date.now(), 'the grace is over', all).catch(() => {})
    }
  }

  async function ensure(name: string, { policy, ...changeable }: QueueOptions): Promise<void> {
    const queue = standing.get(name)
    if (queue) {
      if (!isDeepStrictEqual({ ...queue, ...changeable }, queue)) await boss.updateQueue(name, changeable)
      return
    }
    await boss.createQueue(name, { policy, ...changeable })
    standing.set(name, { name, policy, ...changeable })
    // pg-boss looks a queue up through its own connection at its first use. Inside a transaction on PGlite's one
    // connection that look-up would wait for ever, so every queue that was not there yet is looked up now.
    await boss.findJobs(name, { id: '00000000-0000-0000-0000-000000000000' })
  }

  /** `name` is the pg-boss queue: the queue itself, or that of one of its types. */
  async function addWorker(queue: QueueName, name: string, handlers: Map<string, JobHandler>): Promise<void> {
    const { batch = 1 }: QueueSettings = QUEUES[queue]
    const options = { batchSize: batch, notifyPollingIntervalSeconds: NOTIFIED_POLL_SECONDS }
    let workerId = ''
    workerId = await boss.work<Envelope>(name, { ...options, perJobResults: true }, async jobs => {
      try {
        return await Promise.all(jobs.map(job => runJob(parts, { queue, name, job, handlers })))
      } finally {
        // There may be more: pg-boss would let the worker rest after every fetch. What has come since is announced.
        if (jobs.length === batch) boss.notifyWorker(workerId)
      }
    })
  }
}

const lastly = (tx: Executor) => ({
  async executeSql(text: string, values: unknown[] = []) {
    await runLast(tx, { name: '', text }, values)
    return { rows: [] }
  },
})

/** pg-boss waits for its lock for 30 seconds. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Its lock does not keep two nodes from making the schema: what a session knows of schemas is not looked up again after the wait. */
const UNIQUE_VIOLATION = '23505'
const MOST_CLASHES = 3

/** Another node may be making or migrating the queue's tables at this moment. */
const startBoss = (boss: PgBoss, log: Logger) =>
  retry(() => boss.start(), {
    pauseAfter(error, tried) {
      const state = sqlState(error)
      const clash = state === UNIQUE_VIOLATION && tried <= MOST_CLASHES
      if (state !== LOCK_NOT_AVAILABLE && !clash) return null
      log.info({ err: error }, 'another process migrates the queue: waiting for it')
      return 0
    },
  })

/**
 * When a cron expression fires next: working it out takes longer than reading the task from the database, so it is kept
 * until it has passed. `cron` must come from the code's own table of tasks, for no expression is ever forgotten.
 */
function rememberNextRun(
  preview: (cron: string, from: Date) => Date | undefined,
): (cron: string) => string | null {
  const remembered = new Map<string, { from: number; until: number; next: string }>()
  return cron => {
    const now = Date.now()
    const known = remembered.get(cron)
    // A clock that was set back asks again.
    if (known && known.from <= now && now < known.until) return known.next
    const found = preview(cron, new Date(now))
    if (!found) return null
    const next = found.toISOString()
    remembered.set(cron, { from: now, until: found.getTime(), next })
    return next
  }
}

/** What a worker last did, and when. */
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
