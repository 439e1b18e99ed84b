// The long run of the tenancy histories: `npm run chaos:tenancy -- [HISTORIES] [SEED]`, 10,000 unless said otherwise, on
// the PostgreSQL of TEST_DATABASE_URL in a database of its own, or in memory. Ends with 1 at the first answer that is not
// the model's, and prints the shortest history that leads there.
import { parseArgs } from 'node:util'
import { compareHistories } from '../test/chaos/tenancy/run.ts'
import { openEngine, wholeNumber } from './chaos-engine.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const histories = wholeNumber(positionals[0], 10_000)
const seed = wholeNumber(positionals[1], 13)

const { engine, close } = await openEngine(process.env.TEST_DATABASE_URL, 8)
const started = performance.now()
try {
  const figures = await compareHistories({
    engine,
    histories,
    seed,
    onProgress({ histories: done, requests }) {
      if (done % 100 !== 0) return
      const seconds = Math.round((performance.now() - started) / 1000)
      process.stderr.write(`${done} of ${histories} histories, ${requests} requests, ${seconds} s\n`)
    },
  })
  const seconds = Math.round((performance.now() - started) / 100) / 10
  process.stdout.write(`${JSON.stringify({ engine: engine.kind, seed, seconds, ...figures }, null, 2)}\n`)
} finally {
  await close()
}
