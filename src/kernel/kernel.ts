// What every feature is handed: the database, the queue, the time, the log. Features take this (or the part of it they
// need) and never the whole context of the process.
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Engine } from './db/engine.ts'
import type { Tables } from './db/tables.ts'
import type { Metrics } from './metrics.ts'
import type { Jobs } from './queue/jobs.ts'
import type { Clock } from './time.ts'

export interface Kernel {
  engine: Engine
  db: Kysely<Tables>
  jobs: Jobs
  clock: Clock
  log: Logger
  metrics: Metrics
}
