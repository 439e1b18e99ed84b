// The long run of the generated fault sweeps: `node scripts/chaos-sweeps.ts [SWEEPS] [SEED]`, 10,000 unless said
// otherwise. In memory, or on the PostgreSQL of TEST_DATABASE_URL in a database of its own. Ends with 1 at the first
// sweep that does not end as it must, and prints the shortest sequence that leads there.
import { parseArgs } from 'node:util'
import { migrate } from '../src/kernel/db/migrations.ts'
import { systemClock } from '../src/kernel/time.ts'
import { chaosSweeps } from '../test/chaos/sweeps/run.ts'
import { openEngine, wholeNumber } from './chaos-engine.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const sweeps = wholeNumber(positionals[0] ?? process.env.CHAOS_SWEEPS, 10_000)
const seed = wholeNumber(positionals[1] ?? process.env.CHAOS_SEED, 3)

const { engine, close } = await openEngine(process.env.TEST_DATABASE_URL, 4)
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
