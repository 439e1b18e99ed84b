// The long run of pushes under fire: `npm run chaos:finance [-- INVOICES KILLS]`, 1,000 invoices and 20 kills unless said
// otherwise, three of ten of finance's answers lost after it kept the invoice. On the PostgreSQL of TEST_DATABASE_URL, in
// a database of its own. Ends with 1 unless finance has every invoice once, and the id recorded here is the one there.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { migrate } from '../src/kernel/db/migrations.ts'
import { openPostgres } from '../src/kernel/db/postgres.ts'
import { systemClock } from '../src/kernel/time.ts'
import { chaosFinance } from '../test/chaos/finance.ts'

const { positionals } = parseArgs({ allowPositionals: true })
const [invoices, kills] = [wholeNumber(positionals[0], 1_000), wholeNumber(positionals[1], 20)]

const server = process.env.TEST_DATABASE_URL
if (!server) throw new Error('TEST_DATABASE_URL is not set')
const name = `chaos_${randomBytes(6).toString('hex')}`
await run(`create database ${name}`)
const ends: (() => unknown)[] = [() => run(`drop database ${name} with (force)`)]
let shown = 0
try {
  const databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const engine = openPostgres({ url: databaseUrl, poolSize: 1, log: pino({ level: 'silent' }) })
  await migrate(engine, systemClock).finally(() => engine.close())
  const figures = await chaosFinance(
    { after: end => void ends.push(end) },
    {
      databaseUrl,
      invoices,
      workers: 2,
      kills,
      lost: 0.3,
      latencyMs: 150,
      hurried: false,
      onProgress({ pushed, kills: killed }) {
        if (pushed - shown < invoices / 20) return
        shown = pushed
        process.stderr.write(`${pushed} of ${invoices} pushed, ${killed} workers killed\n`)
      },
    },
  )
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
} finally {
  for (const end of ends.reverse()) await end()
}

async function run(statement: string): Promise<void> {
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(statement).finally(() => admin.end())
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${text} is no count`)
  return Number(text)
}
