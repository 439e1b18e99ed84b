// The long run of the tenancy histories: `npm run chaos:tenancy -- [HISTORIES] [SEED]`, 10,000 unless said otherwise, on
// the PostgreSQL of TEST_DATABASE_URL in a database of its own, or in memory. Ends with 1 at the first answer that is not
// the model's, and prints the shortest history that leads there.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import type { Engine } from '../src/kernel/db/engine.ts'
import { openPglite } from '../src/kernel/db/pglite.ts'
import { openPostgres } from '../src/kernel/db/postgres.ts'
import { compareHistories } from '../test/features/tenancy/run.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const histories = wholeNumber(positionals[0], 10_000)
const seed = wholeNumber(positionals[1], 13)

const { engine, close } = await openEngine(process.env.TEST_DATABASE_URL)
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
  const engine = openPostgres({ url: own.href, poolSize: 8, log: pino({ level: 'silent' }) })
  const close = async () => {
    await engine.close()
    await run(`drop database ${name} with (force)`)
  }
  return { engine, close }
}
