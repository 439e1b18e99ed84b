// The long run of the generated fault sweeps: `node scripts/chaos-sweeps.ts [SWEEPS] [SEED]`, 10,000 unless said
// otherwise. In memory, or on the PostgreSQL of TEST_DATABASE_URL in a database of its own. Ends with 1 at the first
// sweep that does not end as it must, and prints the shortest sequence that leads there.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { systemClock } from '../src/kernel/clock.ts'
import type { Engine } from '../src/kernel/db/engine.ts'
import { migrate } from '../src/kernel/db/migrations.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { openPostgres } from '../src/kernel/db/postgres.ts'
import { chaosSweeps } from '../test/features/inventory/chaos/run.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const sweeps = wholeNumber(positionals[0] ?? process.env.CHAOS_SWEEPS, 10_000)
const seed = wholeNumber(positionals[1] ?? process.env.CHAOS_SEED, 3)

const { engine, close } = await openEngine(process.env.TEST_DATABASE_URL)
const started = performance.now()
let shown = 0
try {
  await migrate(engine, systemClock)
  const figures = await chaosSweeps({
    engine,
    sweeps,
    seed,
    onProgress({ sweeps: done }) {
      if (done - shown < 1_000) return
      shown = done
      process.stderr.write(`${done} of ${sweeps} sweeps\n`)
    },
  })
  const seconds = Math.round((performance.now() - started) / 100) / 10
  process.stdout.write(`${JSON.stringify({ engine: engine.kind, seed, seconds, ...figures }, null, 2)}\n`)
} finally {
  await close()
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is no count`)
  return Number(text)
}

async function openEngine(url: string | undefined): Promise<{ engine: Engine; close(): Promise<void> }> {
  if (!url) {
    const engine = await openPglite({})
    return { engine, close: () => engine.close() }
  }
  const name = `chaos_${randomBytes(6).toString('hex')}`
  const run = async (text: string) => {
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(text).finally(() => admin.end())
  }
  await run(`create database ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  const engine = openPostgres({ url: own.href, poolSize: 4, log: pino({ level: 'silent' }) })
  const close = async () => {
    await engine.close()
    await run(`drop database ${name} with (force)`)
  }
  return { engine, close }
}
