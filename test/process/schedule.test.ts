// A service's process runs the schedule as in production; in the database of a test nothing is due unless the test says so.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { createPostgresDatabase } from '../support/database.ts'
import { needsPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { lasting } from '../support/lasting.ts'
import { startService } from '../support/process.ts'

test(
  'of all tasks the one runs that the test has made due, and the wall clock starts none',
  needsPostgres,
  async t => {
    const owner = lasting(t)
    const database = await createPostgresDatabase()
    owner.after(database.drop)
    const sql = new pg.Client({ connectionString: database.url })
    await sql.connect()
    owner.after(() => sql.end())
    await startService(owner, { env: { DATABASE_URL: database.url, LOG_LEVEL: 'warn' } })
    await sql.query("update scheduled_tasks set next_run_at = now() where name = 'housekeeping'")
    // The first sweep of a service asks for the findings by itself.
    const ticks = async () =>
      (
        await sql.query(
          "select task, status from task_runs where trigger = 'schedule' and task <> 'findings'",
        )
      ).rows
    await eventually('the tick has run', async () =>
      (await ticks()).some(({ status }) => status === 'completed'),
    )
    assert.deepEqual(await ticks(), [{ task: 'housekeeping', status: 'completed' }])
    const { rows } = await sql.query(
      "select name from scheduled_tasks where next_run_at is distinct from '2100-01-01T00:00:00Z'",
    )
    assert.deepEqual(rows, [{ name: 'housekeeping' }])
  },
)
