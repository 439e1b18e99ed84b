// cloudops migrate [status]
import { loadConfig } from '../config.ts'
import { migrate as applyMigrations, migrationStatus } from '../kernel/db/migrations.ts'
import { createLog } from '../kernel/log.ts'
import { createMetrics } from '../kernel/metrics.ts'
import { systemClock } from '../kernel/time.ts'
import { type Command, CommandError, print, table, usageError } from './command.ts'

export const migrate: Command = {
  usage: '[status]',
  summary: 'Apply pending database migrations, or show their status.',
  details:
    'Every process does the same at its start, under a lock. `status` exits with 1 while any is pending or was edited.',
  async run({ positionals: [action, ...rest] }) {
    if ((action !== undefined && action !== 'status') || rest.length > 0)
      throw usageError('migrate takes nothing, or `status`')
    const { config } = loadConfig()
    // Loaded here and not at the top: the other commands need not wait for the engines.
    const { open, waitUntilReachable } = await import('../kernel/db/open.ts')
    const log = createLog('warn')
    const engine = await open({ ...config, DATABASE_POOL_SIZE: 2 }, log)
    try {
      await waitUntilReachable(engine, log, 10_000)
      if (action === 'status') return await status()
      const applied = await applyMigrations(engine, systemClock, { log })
      // The queue keeps its own tables, with migrations of its own.
      const { createJobs } = await import('../kernel/queue/jobs.ts')
      const jobs = createJobs({ engine, log, metrics: createMetrics(), worker: false })
      await jobs.start()
      await jobs.stop(1_000)
      for (const { version, name } of applied) print(`applied ${number(version)} ${name}`)
      print(
        applied.length === 0 ? 'Nothing to apply: the database is up to date.' : `${applied.length} applied.`,
      )
    } finally {
      await engine.close()
    }

    async function status(): Promise<void> {
      const rows = await migrationStatus(engine)
      print(
        table(
          ['NUMBER', 'NAME', 'STATE', 'APPLIED AT'],
          rows.map(row => [number(row.version), row.name, row.state, row.applied_at ?? '']),
        ),
      )
      const open = rows.filter(row => row.state === 'pending' || row.state === 'edited').length
      if (open > 0) throw new CommandError(`${open} of ${rows.length} migrations are pending or were edited.`)
    }
  },
}

const number = (version: number) => String(version).padStart(4, '0')
