// The same runs by DBOS Transact: a workflow of five no-op steps, each with its checkpoint.
import { DBOS } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import { type Batch, inFlight, STEPS, type Stepped } from '../figures/sagas.ts'
import { working } from '../process.ts'

const url = process.env.DATABASE_URL!

async function steps(): Promise<void> {
  for (let index = 0; index < STEPS; index++) {
    await DBOS.runStep(async () => ({ index }), { name: `step_${index}` })
  }
}

const workflow = DBOS.registerWorkflow(steps, { name: 'no_op' })
DBOS.setConfig({
  name: 'bench',
  applicationVersion: '1',
  systemDatabaseUrl: url,
  systemDatabasePoolSize: Number(process.env.POOL_SIZE),
  logLevel: 'warn',
})
await DBOS.launch()
const database = new pg.Client({ connectionString: url })
await database.connect()

async function runOnce(): Promise<void> {
  const handle = await DBOS.startWorkflow(workflow)()
  await handle.getResult()
}

working<Batch, Stepped>(async ({ runs, atOnce }) => {
  const began = performance.now()
  await inFlight(runs, atOnce, runOnce)
  const ms = performance.now() - began
  const { rows } = await database.query('select count(*)::int as count from dbos.operation_outputs')
  return { ms, recorded: rows[0].count }
})
